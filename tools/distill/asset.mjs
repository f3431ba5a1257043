// Writes the word table in the format that src/providers/builtin/table.ts documents and reads.

/**
 * @param {{words: readonly string[], weights: Float64Array, vectors: Float64Array, dimensions: number}} input
 * @returns {Uint8Array}
 */
export function writeWordTable({ words, weights, vectors, dimensions }) {
  const slotCount = 2 ** Math.ceil(Math.log2(words.length * 1.5));
  const block = new TextEncoder().encode(words.join(''));
  if (block.length !== words.join('').length) throw new Error('Only ASCII words can be stored.');
  if (words.length >= 65_535) throw new Error('A uint16 slot cannot number so many words.');

  const starts = new Uint32Array(words.length + 1);
  const slots = new Uint16Array(slotCount);
  words.forEach((word, number) => {
    starts[number + 1] = starts[number] + word.length;
    let slot = hashWord(word) & (slotCount - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1);
    slots[slot] = number + 1;
  });

  const scales = new Float32Array(words.length);
  const rows = new Int8Array(words.length * dimensions);
  for (let number = 0; number < words.length; number++) {
    const vector = vectors.subarray(number * dimensions, (number + 1) * dimensions);
    let largest = 0;
    for (const component of vector) largest = Math.max(largest, Math.abs(component));
    scales[number] = largest / 127;
    const scale = scales[number] || 1;
    for (let k = 0; k < dimensions; k++) {
      rows[number * dimensions + k] = Math.max(-127, Math.min(127, Math.round(vector[k] / scale)));
    }
  }

  const header = new Uint32Array([0x5457_4c53, 1, dimensions, words.length, slotCount, block.length]);
  const sections = [header, Float32Array.from(weights), scales, starts, slots, block, rows].map(
    (section) => new Uint8Array(section.buffer, section.byteOffset, section.byteLength),
  );
  const bytes = new Uint8Array(sections.reduce((sum, section) => sum + Math.ceil(section.length / 4) * 4, 0));
  let at = 0;
  for (const section of sections) {
    bytes.set(section, at);
    at += Math.ceil(section.length / 4) * 4;
  }
  return bytes;
}

/** 32-bit FNV-1a over the character codes. */
function hashWord(word) {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < word.length; index++)
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x0100_0193);
  return hash >>> 0;
}
