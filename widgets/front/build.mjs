// Bundles src/ into dist/: `npm run build` for what is committed, `npm run watch` while you work (readable, with a source map).
import { build, context } from "esbuild";

const watching = process.argv.includes("--watch");
const outdir = process.argv.find((a) => a.startsWith("--outdir="))?.slice(9);
/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: import.meta.dirname,
  outdir: outdir ?? "dist",
  bundle: true,
  target: "es2022",
  charset: "utf8",
  minify: !watching,
  sourcemap: watching ? "inline" : false,
  legalComments: "none",
  logLevel: "info",
};

/** @type {import("esbuild").BuildOptions[]} */
const builds = [
  // A page of the book: what every reader loads, and what comes when Python or an editor is wanted. The worker is a text in it, because a
  // page opened from a disk may start a worker from a blob only.
  {
    ...common,
    format: "iife",
    loader: { ".css": "text" },
    plugins: [
      {
        name: "worker",
        setup: (on) =>
          on.onLoad({ filter: /book[\\/]worker\.js$/ }, async ({ path }) => {
            const { outputFiles } = await build({
              ...common,
              entryPoints: [path],
              outdir: undefined,
              format: "iife",
              write: false,
              logLevel: "silent",
            });
            return { contents: outputFiles?.[0].text, loader: "text" };
          }),
      },
    ],
    entryPoints: [
      { in: "src/book/bar.js", out: "book/bar" },
      { in: "src/book/live.js", out: "book/live" },
      { in: "src/book/embed.js", out: "book/embed" },
    ],
  },
  { ...common, entryPoints: [{ in: "src/book/bar.css", out: "book/bar" }] },
  {
    ...common,
    format: "esm",
    entryPoints: [
      { in: "src/loader.js", out: "loader" },
      { in: "src/index.js", out: "views" },
      { in: "src/views.css", out: "views" },
      { in: "src/film/index.js", out: "film-view" },
    ],
  },
  {
    ...common,
    format: "iife", // pages opened from a disk load no modules
    entryPoints: [
      { in: "src/page.js", out: "page" },
      { in: "src/film/page.js", out: "film" },
      { in: "src/film/page.css", out: "film" },
    ],
  },
  { ...common, format: "iife", loader: { ".css": "text" }, entryPoints: [{ in: "src/panel/extension.js", out: "panel" }] },
];
for (const options of builds)
  if (watching) await (await context(options)).watch();
  else await build(options);
