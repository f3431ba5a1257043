/**
 * SHA-256 of a text in UTF-8, as 64 hexadecimal digits. Here because scoring runs in browsers too, whose own digest is
 * asynchronous. Source: FIPS 180-4.
 */
export function sha256(text: string): string {
  const bytes = utf8(text);
  const bits = bytes.length * 8;
  bytes.push(0x80);
  while (bytes.length % 64 !== 56) bytes.push(0);
  for (const half of [Math.floor(bits / 0x1_0000_0000), bits >>> 0]) {
    bytes.push(half >>> 24, (half >>> 16) & 0xff, (half >>> 8) & 0xff, half & 0xff);
  }

  const state = [...INITIAL];
  const words = new Int32Array(64);
  for (let block = 0; block < bytes.length; block += 64) {
    for (let at = 0; at < 16; at++) {
      const first = block + at * 4;
      words[at] =
        (bytes[first]! << 24) | (bytes[first + 1]! << 16) | (bytes[first + 2]! << 8) | bytes[first + 3]!;
    }
    for (let at = 16; at < 64; at++) {
      const before = words[at - 15]!;
      const last = words[at - 2]!;
      const low = rotate(before, 7) ^ rotate(before, 18) ^ (before >>> 3);
      const high = rotate(last, 17) ^ rotate(last, 19) ^ (last >>> 10);
      words[at] = words[at - 16]! + low + words[at - 7]! + high;
    }
    let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
    for (let at = 0; at < 64; at++) {
      const choice = (e & f) ^ (~e & g);
      const one = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + ROUND[at]! + words[at]!) | 0;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, index) => {
      state[index] = (state[index]! + value) | 0;
    });
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The first 32 bits of the fractions of the cube roots and of the square roots of the first primes. */
const PRIMES = primes(64);
const ROUND = PRIMES.map((prime) => fraction(prime, 3));
const INITIAL = PRIMES.slice(0, 8).map((prime) => fraction(prime, 2));

function primes(count: number): readonly number[] {
  const found: number[] = [];
  for (let each = 2; found.length < count; each++) {
    if (found.every((prime) => each % prime !== 0)) found.push(each);
  }
  return found;
}

/** floor(prime^(1/degree) · 2^32) mod 2^32, in integers: the bits of powers differ between runtimes. */
function fraction(prime: number, degree: 2 | 3): number {
  const target = BigInt(prime) << BigInt(32 * degree);
  let root = 0n;
  for (let bit = 1n << 37n; bit > 0n; bit >>= 1n) {
    const more = root + bit;
    if (more * more * (degree === 3 ? more : 1n) <= target) root = more;
  }
  return Number(BigInt.asIntN(32, root));
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(point));
    else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), tail(point >> 6), tail(point));
    else bytes.push(0xf0 | (point >> 18), tail(point >> 12), tail(point >> 6), tail(point));
  }
  return bytes;
}

function tail(bits: number): number {
  return 0x80 | (bits & 0x3f);
}
