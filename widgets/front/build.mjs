// Bundles src/ into dist/: `npm run build` for what is committed, `npm run watch` while you work (readable, with a source map).
import { build, context } from "esbuild";

const watching = process.argv.includes("--watch");
const outdir = process.argv.find((a) => a.startsWith("--outdir="))?.slice(9);
/** @type {import("esbuild").BuildOptions} */
const options = {
  absWorkingDir: import.meta.dirname,
  entryPoints: [
    { in: "src/loader.js", out: "loader" },
    { in: "src/index.js", out: "views" },
    { in: "src/views.css", out: "views" },
    { in: "src/page.js", out: "page" },
  ],
  outdir: outdir ?? "dist",
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: !watching,
  sourcemap: watching ? "inline" : false,
  legalComments: "none",
  logLevel: "info",
};

if (watching) await (await context(options)).watch();
else await build(options);
