// What the browser keeps for the reader: edits, last outputs, files. IndexedDB; where that fails, memory, and one sentence.

const NAME = "minigrad-book";
/** @type {IDBDatabase|undefined} */ let db;
/** @type {Map<string, any>} */ const memory = new Map();
let trouble = "";

/** The sentence about what is not kept, or "". */
export const lost = () => trouble;

/** @param {(sentence: string) => void} tell */
export async function open(tell) {
  try {
    db = await new Promise((yes, no) => {
      const asked = indexedDB.open(NAME, 1);
      asked.onupgradeneeded = () => {
        for (const name of ["cells", "files", "notebooks"]) asked.result.createObjectStore(name);
      };
      asked.onsuccess = () => yes(asked.result);
      asked.onerror = () => no(asked.error);
      asked.onblocked = () => no(new Error("blocked"));
    });
    navigator.storage?.persist?.().catch(() => {});
  } catch (error) {
    console.warn(error);
    trouble = "This browser keeps nothing for this page. Download the notebook before you leave, to keep your work.";
    tell(trouble);
  }
}

/** @param {string} name @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} what @returns {Promise<any>} */
const act = (name, mode, what) =>
  new Promise((yes, no) => {
    const deal = /** @type {IDBDatabase} */ (db).transaction(name, mode);
    const asked = what(deal.objectStore(name));
    deal.oncomplete = () => yes(asked.result);
    deal.onerror = deal.onabort = () => no(deal.error ?? new Error("aborted"));
  });

/** Keep a value, or with undefined forget it. @param {string} name @param {string} key @param {any} value @param {(sentence: string) => void} tell */
export async function put(name, key, value, tell) {
  memory.set(`${name}/${key}`, value);
  if (!db) return;
  try {
    await act(name, "readwrite", (store) => (value === undefined ? store.delete(key) : store.put(value, key)));
  } catch (error) {
    const full = /** @type {DOMException} */ (error)?.name === "QuotaExceededError";
    trouble = full
      ? "The browser's storage is full: what you do from here on is not kept. Download the notebook to keep it."
      : "The browser could not keep your last change. Download the notebook to keep it.";
    tell(trouble);
  }
}

/** {key: value} of all that is kept under a prefix. @param {string} name @param {string} [prefix] @returns {Promise<Record<string, any>>} */
export async function all(name, prefix = "") {
  const start = `${name}/${prefix}`;
  const here = [...memory].filter(([key, value]) => key.startsWith(start) && value !== undefined);
  const found = Object.fromEntries(here.map(([key, value]) => [key.slice(name.length + 1), value]));
  if (!db) return found;
  const range = prefix ? IDBKeyRange.bound(prefix, `${prefix}\uffff`) : undefined;
  const [keys, values] = await Promise.all([
    act(name, "readonly", (store) => store.getAllKeys(range)),
    act(name, "readonly", (store) => store.getAll(range)),
  ]);
  for (const [k, key] of keys.entries()) if (!memory.has(`${name}/${key}`)) found[key] = values[k];
  return found;
}

/** Other tabs of this book: each tells the others what it has kept. */
export const others = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
