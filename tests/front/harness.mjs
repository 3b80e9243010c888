// What the tests in this folder need: they run in the page that test_front.py opens, on the front end's own modules, without a build.

const tests = [];
/** Register a test. @param {string} name @param {() => void | Promise<void>} run */
export const test = (name, run) => tests.push([name, run]);

/** Run what a file has registered: its names, each with what went wrong. */
globalThis.runTests = async () => {
  const results = [];
  for (const [name, run] of tests) {
    document.body.replaceChildren();
    try {
      await run();
      results.push([name, ""]);
    } catch (error) {
      results.push([name, String(error.stack ?? error)]);
    }
  }
  return results;
};

const shown = (x) => JSON.stringify(x, (_, v) => (typeof v === "number" && !Number.isFinite(v) ? String(v) : v instanceof Map ? [...v] : v)) ?? String(x);
const fail = (message, otherwise) => {
  throw new Error(message ?? otherwise);
};

/** Are these the same, inside and out? @returns {boolean} */
function alike(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || a.constructor !== b.constructor) return false;
  if (a instanceof Map || a instanceof Set) return alike([...a], [...b]);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => k in b && alike(a[k], b[k]));
}

export const assert = {
  ok: (x, message) => x || fail(message, `${shown(x)} is not true`),
  equal: (a, b, message) => Object.is(a, b) || fail(message && `${message}: ${shown(a)}, not ${shown(b)}`, `${shown(a)}, not ${shown(b)}`),
  deepEqual: (a, b, message) => alike(a, b) || fail(message, `${shown(a)}, not ${shown(b)}`),
  match: (text, pattern, message) => pattern.test(text) || fail(message, `${shown(text)} has no ${pattern}`),
  throws(run, pattern) {
    try {
      run();
    } catch (error) {
      return assert.match(String(error), pattern);
    }
    fail(undefined, "nothing was thrown");
  },
};

/** Traces and sweeps of the engine, written by test_front.py: the functions are held against minigrad, not against themselves. Bytes are
 * `{$bytes: base64}`. */
export const cases = await (await fetch("/cases.json")).json();

/** @param {string} base64 */
export const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/** A case with real bytes in it. */
export const real = (x) => JSON.parse(JSON.stringify(x), (_, value) => (value?.$bytes === undefined ? value : bytes(value.$bytes).buffer));

/** A model as anywidget's, without a kernel. @param {Record<string, any>} state */
export function fakeModel(state) {
  const listeners = new Map();
  const told = [];
  const fire = (name, ...args) => [...(listeners.get(name) ?? [])].forEach((run) => run(...args));
  return {
    told, // what was sent to the kernel: messages, and the state at each save
    fire,
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      fire(`change:${name}`);
    },
    on: (name, run) => listeners.set(name, [...(listeners.get(name) ?? []), run]),
    off: (name, run) => listeners.set(name, (listeners.get(name) ?? []).filter((x) => x !== run)),
    save_changes: () => told.push({ ...state }),
    send: (content) => told.push(content),
  };
}
