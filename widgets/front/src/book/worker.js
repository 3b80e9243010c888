// The worker of a page: fetches Python with honest progress, starts it or restores it from a snapshot, and hands cells to page_kernel.py.
// A classic script without imports, so that it also runs as a blob, from a page that was opened from a disk.

/** @typedef {{url: string, bytes: number, raw?: number, sha256: string, gzip?: boolean}} Packed bytes: as they travel */
/** @typedef {{start: string[], plots: string[], files: Record<string, Packed>, hash: string}} Manifest */

const HOST = "https://pyodide.invalid/"; // no such host: Pyodide's files are handed to it below
const POLL = 150; // ms between two looks whether the page wants Python to stop
const ROOM = 200e6; // bytes that must be free before 30 MB of snapshot are kept
/** @type {any} */ const self_ = globalThis;
/** @type {Manifest} */ let manifest;
/** @type {string} */ let base;
/** @type {Record<string, ArrayBuffer>|undefined} */ let given; // by a page that was opened from a disk
/** @type {any} */ let py;
/** @type {any} */ let kernel;
/** @type {Promise<void>|undefined} */ let plots;
/** @type {string|null} */ let poll = null;
let polled = 0;
let busy = false;
let got = 0;
let expected = 0;
let said = 0;

/** @param {string} what @param {object} [more] */
const say = (what, more = {}) => postMessage({ kind: "state", what, ...more });
const reallyFetch = fetch.bind(globalThis);
/** @param {ReadableStream} stream */
const unzip = (stream) => new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
const store = () => (self_.caches ? self_.caches.open("minigrad-python").catch(() => null) : Promise.resolve(null));

/** Tell the page how much has come. @param {number} bytes */
function count(bytes) {
  got += bytes;
  if (performance.now() - said < 100 && got < expected) return;
  said = performance.now();
  say("loading", { got: Math.min(got, expected), expected, plots: !!plots });
}

/** @param {Response} answer @param {Packed} file @param {boolean} cached */
async function whole(answer, file, cached) {
  const parts = [];
  const reader = /** @type {ReadableStream} */ (answer.body).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    if (!cached) count(part.value.length * (file.raw ? file.bytes / file.raw : 1));
  }
  if (cached) count(file.bytes);
  return new Blob(parts);
}

/** @param {Blob} blob */
async function sha256(blob) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  return [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a file of the manifest: from the page, from the cache, or from the network and then checked. @param {string} name */
async function bytes(name) {
  const file = manifest.files[name];
  if (given) {
    count(file.bytes);
    return file.gzip ? unzip(/** @type {ReadableStream} */ (new Response(given[name]).body)) : given[name];
  }
  const url = new URL(file.url, base).href;
  const key = `${url}?${file.sha256}`;
  const cache = await store();
  const cached = await cache?.match(key);
  let answer = cached;
  if (!answer) {
    // Where the page is not secure there is no crypto.subtle; then the browser checks, without telling how much has come.
    const hex = file.sha256.match(/../g) ?? [];
    const integrity = `sha256-${btoa(String.fromCharCode(...hex.map((two) => Number.parseInt(two, 16))))}`;
    answer = await reallyFetch(url, self_.crypto?.subtle ? {} : { integrity }).catch(() => {
      throw new Error(`offline: ${name}`);
    });
    if (!answer.ok) throw new Error(`missing: ${name} (${answer.status})`);
  }
  const blob = await whole(answer, file, !!cached).catch(() => {
    throw new Error(`offline: ${name}`);
  });
  if (!cached && self_.crypto?.subtle) {
    if ((await sha256(blob)) !== file.sha256) throw new Error(`changed: ${name}`);
    await cache?.put(key, new Response(blob)).catch(() => say("not cached"));
  }
  return file.gzip ? unzip(blob.stream()) : blob.arrayBuffer();
}

/** What earlier versions of the book have left in the cache. @param {any} cache */
async function tidy(cache) {
  const wanted = new Set([...Object.values(manifest.files).map((f) => f.sha256), manifest.hash]);
  for (const request of (await cache?.keys()) ?? []) if (!wanted.has(request.url.split("?").pop())) cache.delete(request);
}

/** Write files. @param {ArrayBuffer} packed an index and their bytes (pack.py) */
function unpack(packed) {
  const size = new DataView(packed).getUint32(0, true);
  const index = JSON.parse(new TextDecoder().decode(new Uint8Array(packed, 4, size)));
  const made = new Set();
  let from = 4 + size;
  for (const [name, length] of index) {
    const folder = `/${name.slice(0, name.lastIndexOf("/"))}`;
    if (!made.has(folder)) py.FS.mkdirTree(folder);
    made.add(folder);
    py.FS.writeFile(`/${name}`, new Uint8Array(packed, from, length), { canOwn: true });
    from += length;
  }
}

/** What Python is after its slow imports, so that it is restored next time. Only Python that has touched neither JavaScript nor a compiled
 * package can be kept. */
function snapshot() {
  try {
    return py.makeMemorySnapshot();
  } catch (error) {
    console.warn("no snapshot:", error);
  }
}

/** @param {any} cache @param {string} key @param {any} made bytes */
async function keep(cache, key, made) {
  const { quota = 0, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
  if (made && cache && quota - usage > ROOM) await cache.put(key, new Response(made)).catch(() => say("not cached"));
}

/** Stop without cross-origin isolation: Pyodide looks at its "interrupt buffer" every 50 jumps. This one looks, now and then, whether the
 * page still offers a certain blob. A worker that runs Python reads no messages, so revoking the blob's address is how the page says stop. */
const interrupt = {
  get 0() {
    if (!busy || !poll || performance.now() - polled < POLL) return 0;
    polled = performance.now();
    if (readable(poll)) return 0;
    poll = null;
    return 2;
  },
  set 0(_) {},
};

/** From a disk no worker may read a blob of the page: there only ending the worker stops it. @param {string} address */
function readable(address) {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    request.send();
    return true;
  } catch {
    return false;
  }
}

/** @param {any} options */
async function start(options) {
  ({ manifest, base, given } = options);
  const begun = performance.now();
  /** @type {Record<string, number>} */ const at = {};
  const mark = (/** @type {string} */ what) => {
    at[what] = Math.round(performance.now() - begun);
  };
  expected = manifest.start.reduce((sum, name) => sum + manifest.files[name].bytes, 0);
  /** @type {Map<string, Promise<ArrayBuffer>>} */ const coming = new Map(manifest.start.map((name) => [name, bytes(name)]));
  for (const one of coming.values()) one.catch(() => {});
  const file = (/** @type {string} */ name) => /** @type {Promise<ArrayBuffer>} */ (coming.get(name) ?? bytes(name));
  const cache = options.snapshots ? await store() : null;
  const key = `${new URL("snapshot", base).href}?${manifest.hash}`;
  const kept = await cache?.match(key).then((/** @type {Response} */ held) => held?.arrayBuffer());
  self_.fetch = async (/** @type {any} */ url, /** @type {any} */ more) => {
    const name = String(url.url ?? url)
      .split("/")
      .pop();
    if (!name || !manifest.files[name]) return reallyFetch(url, more);
    const type = name.endsWith(".wasm") ? "application/wasm" : name.endsWith(".json") ? "application/json" : "application/octet-stream";
    return new Response(await file(name), { headers: { "content-type": type } });
  };
  const fetched = Promise.all(coming.values()).then(() => {
    mark("fetched");
    say("starting", { restored: !!kept });
  });
  // What has come is compiled while the rest comes. If a file does not, `fetched` says which.
  const python = async () => {
    for (const name of ["pyodide.js", "pyodide.asm.js"])
      self_.importScripts(URL.createObjectURL(new Blob([await file(name)], { type: "text/javascript" })));
    const how = kept ? { _loadSnapshot: kept } : { _makeSnapshot: true };
    return self_.loadPyodide({ indexURL: HOST, lockFileURL: `${HOST}pyodide-lock.json`, ...how });
  };
  [py] = await Promise.all([python(), fetched]);
  mark("python");
  for (const name of ["libs.bin", "course.bin"]) unpack(await file(name));
  mark("unpacked");
  /** @type {Uint8Array|undefined} */ let made;
  if (!kept) {
    py.runPython('import sys\nsys.path[:0] = ["/course", "/libs"]\nimport page_kernel; page_kernel.prepare()');
    made = snapshot();
    mark("prepared");
  }
  kernel = py.runPython("import page_kernel; page_kernel.begin(); page_kernel");
  kernel.post = (/** @type {string} */ kind, /** @type {string} */ content, /** @type {any} */ buffers) => {
    const plain = buffers.toJs().map((/** @type {Uint8Array} */ b) => b.slice().buffer);
    postMessage({ kind, content: JSON.parse(content), buffers: plain }, { transfer: plain });
  };
  for (const [path, held] of Object.entries(options.files)) kernel.put_file(path, py.toPy(new Uint8Array(held)));
  py.setInterruptBuffer(interrupt);
  mark("ready");
  say("ready", { at, restored: !!kept });
  tidy(cache);
  keep(cache, key, made);
}

const DRAWS = /\bplt\.|\bplot\(|\bmatplotlib\.(?!pyplot as plt)|savefig|\bPIL\b|four_runs/;

/** Fetch what draws plots, before the first cell that does. */
async function withPlots() {
  plots ??= (async () => {
    got = 0;
    expected = manifest.plots.reduce((sum, name) => sum + manifest.files[name].bytes, 0);
    say("loading", { got, expected, plots: true });
    const all = await Promise.all(manifest.plots.map(async (name) => /** @type {const} */ ([name, await bytes(name)])));
    const held = new Map(all);
    const fetched = self_.fetch;
    self_.fetch = async (/** @type {any} */ url, /** @type {any} */ more) => {
      const found = held.get(
        String(url.url ?? url)
          .split("/")
          .pop() ?? "",
      );
      return found ? new Response(found) : fetched(url, more);
    };
    await py.loadPackage(["matplotlib"], { messageCallback() {} });
    self_.fetch = fetched;
  })();
  plots.catch(() => {
    plots = undefined; // the next cell that draws tries again
  });
  await plots;
}

/** @type {Record<string, (message: any) => any>} */
const todo = {
  start,
  async run({ chapter, cell, code, poll: address }) {
    if (DRAWS.test(code)) await withPlots();
    poll = readable(address) ? address : null;
    polled = performance.now();
    busy = true;
    postMessage({ kind: "began", cell });
    let ok = false;
    try {
      ok = kernel.run(chapter, cell, code);
    } finally {
      busy = false;
    }
    postMessage({ kind: "ran", cell, ok, ms: performance.now() - polled });
  },
  comm_msg({ comm_id, data, buffers }) {
    kernel.message(comm_id, JSON.stringify(data), py.toPy(buffers.map((/** @type {ArrayBuffer} */ b) => new Uint8Array(b))));
  },
  needed({ sources, done, at, id }) {
    postMessage({ kind: "answer", id, answer: JSON.parse(kernel.needed(JSON.stringify(sources), JSON.stringify(done), at)) });
  },
  complete({ chapter, code, at, id }) {
    postMessage({ kind: "answer", id, answer: JSON.parse(kernel.complete(chapter, code, at)) });
  },
  close({ ids }) {
    kernel.close(JSON.stringify(ids));
  },
  file({ path, data }) {
    kernel.put_file(path, py.toPy(new Uint8Array(data)));
  },
};

let turn = Promise.resolve();
self_.onmessage = (/** @type {MessageEvent} */ { data }) => {
  turn = turn
    .then(() => todo[data.kind](data))
    .catch((error) => {
      const message = String(error.message ?? error);
      const fatal = error.pyodide_fatal_error || (/memory|unreachable|stack/i.test(message.slice(0, 300)) && !error.type);
      postMessage({ kind: "failed", during: data.kind, id: data.id, fatal: !!fatal, message: message.slice(0, 2000) });
    });
};

export default ""; // the build hands this whole file to kernel.js as a text
