// A GIF: one palette of the most frequent colours, LZW, and of each frame only what has changed.

/** @param {Uint8ClampedArray[]} frames of equal size, red green blue alpha @param {number} width @param {number} height
 * @param {number} delay of a frame, in hundredths of a second @param {number} last of the last frame */
export function encode(frames, width, height, delay, last) {
  const { palette, find } = paletteOf(frames);
  /** @type {number[]} */ const out = [];
  const word = (/** @type {number} */ v) => out.push(v & 255, v >> 8);
  const letters = (/** @type {string} */ s) => {
    for (const letter of s) out.push(letter.charCodeAt(0));
  };
  letters("GIF89a");
  word(width);
  word(height);
  out.push(0xf7, 0, 0);
  for (let j = 0; j < 256; j++) out.push(...(palette[j] ?? [0, 0, 0]));
  letters("\x21\xff\x0bNETSCAPE2.0");
  out.push(3, 1, 0, 0, 0);
  /** @type {Uint8Array|null} */ let before = null;
  frames.forEach((data, f) => {
    const now = Uint8Array.from({ length: width * height }, (_, i) => find(data, 4 * i));
    const { x0, y0, x1, y1, pixels } = changed(before, now, palette, width, height);
    before = now;
    letters("\x21\xf9\x04");
    out.push(5);
    word(f === frames.length - 1 ? last : delay);
    out.push(255, 0, 0x2c);
    word(x0);
    word(y0);
    word(x1 - x0 + 1);
    word(y1 - y0 + 1);
    out.push(0);
    squeeze(pixels, out);
  });
  out.push(0x3b);
  return new Uint8Array(out);
}

/** The 255 most frequent colours of 15 bits; the last place of the palette is transparent. @param {Uint8ClampedArray[]} frames */
function paletteOf(frames) {
  const counts = new Uint32Array(32768);
  const at = (/** @type {Uint8ClampedArray} */ d, /** @type {number} */ i) =>
    ((d[i] >> 3) << 10) | ((d[i + 1] >> 3) << 5) | (d[i + 2] >> 3);
  for (let f = 0; f < frames.length; f += 4) for (let i = 0; i < frames[f].length; i += 4) counts[at(frames[f], i)]++;
  const rgb = (/** @type {number} */ k) => [k >> 10, (k >> 5) & 31, k & 31].map((v) => Math.floor((v * 255) / 31));
  const palette = [...counts.keys()]
    .filter((k) => counts[k])
    .sort((a, b) => counts[b] - counts[a])
    .slice(0, 255)
    .map(rgb);
  const nearest = new Int16Array(32768).fill(-1);
  /** @param {Uint8ClampedArray} d @param {number} i */
  const find = (d, i) => {
    const k = at(d, i);
    if (nearest[k] >= 0) return nearest[k];
    const [r, g, b] = rgb(k);
    let [best, near] = [0, 1e9];
    palette.forEach((p, j) => {
      const far = (p[0] - r) ** 2 * 0.6 + (p[1] - g) ** 2 + (p[2] - b) ** 2 * 0.4;
      if (far < near) [best, near] = [j, far];
    });
    nearest[k] = best;
    return best;
  };
  return { palette, find };
}

/** The part of a frame that differs from the one before, transparent where it does not. Colours that differ by less than an eye can tell
 * count as equal. @param {Uint8Array|null} before @param {Uint8Array} now @param {number[][]} palette @param {number} width @param {number} height */
function changed(before, now, palette, width, height) {
  let [x0, x1, y0, y1] = [width, 0, height, 0];
  const marks = new Uint8Array(now.length).fill(255);
  for (let i = 0; i < now.length; i++) {
    if (before && before[i] !== now[i]) {
      const [a, b] = [palette[before[i]], palette[now[i]]];
      if (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) < 9) now[i] = before[i];
    }
    if (before && before[i] === now[i]) continue;
    marks[i] = now[i];
    const [x, y] = [i % width, Math.floor(i / width)];
    [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
  }
  if (x1 < x0) [x0, x1, y0, y1] = [0, 0, 0, 0];
  const w = x1 - x0 + 1;
  const pixels = new Uint8Array(w * (y1 - y0 + 1));
  for (let y = y0; y <= y1; y++) pixels.set(marks.subarray(y * width + x0, y * width + x0 + w), (y - y0) * w);
  return { x0, y0, x1, y1, pixels };
}

/** LZW with codes of 9 to 12 bits, in blocks of 255 bytes. @param {Uint8Array} pixels @param {number[]} out */
function squeeze(pixels, out) {
  out.push(8);
  let [size, next, bits, held] = [9, 258, 0, 0];
  /** @type {Map<number, number>} */ let known = new Map();
  /** @type {number[]} */ const block = [];
  const flush = () => {
    const part = block.splice(0, 255);
    out.push(part.length, ...part);
  };
  const emit = (/** @type {number} */ code) => {
    held |= code << bits;
    bits += size;
    while (bits >= 8) {
      block.push(held & 255);
      held >>>= 8;
      bits -= 8;
    }
    if (block.length >= 255) flush();
  };
  emit(256);
  let current = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = (current << 8) | pixels[i];
    const hit = known.get(key);
    if (hit !== undefined) {
      current = hit;
      continue;
    }
    emit(current);
    if (next < 4096) {
      if (next === 1 << size && size < 12) size++;
      known.set(key, next++);
    } else {
      emit(256);
      known = new Map();
      [next, size] = [258, 9];
    }
    current = pixels[i];
  }
  emit(current);
  emit(257);
  if (bits) block.push(held & 255);
  while (block.length) flush();
  out.push(0);
}
