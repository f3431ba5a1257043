// Packs the vocabularies of OpenAI's models, which the development dependency `tiktoken` has, into src/context/vocabularies/*.ts.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = new URL('../src/context/vocabularies/', import.meta.url);
const NAMES = ['o200k_base', 'cl100k_base'];

/** The text of the module of a vocabulary; src/context/byte-pairs.ts reads what is packed. */
export function packVocabulary(name) {
  const groups = [];
  for (const [token, rank] of tokensOf(name)) {
    groups[token.length] ??= [];
    groups[token.length].push([token, rank]);
  }
  const parts = [];
  for (const [length, group = []] of groups.entries()) {
    if (group.length === 0) continue;
    group.sort(([a], [b]) => Buffer.compare(a, b));
    const head = Buffer.alloc(4);
    head.writeUInt8(length);
    head.writeUIntLE(group.length, 1, 3);
    const ranks = Buffer.alloc(3 * group.length);
    for (const [at, [, rank]] of group.entries()) ranks.writeUIntLE(rank, 3 * at, 3);
    parts.push(head, ...group.map(([token]) => token), ranks);
  }
  return [
    `/** The tokens of ${name}, packed. Written by scripts/vocabularies.mjs: do not edit. */`,
    `export const PACKED: string = '${Buffer.concat(parts).toString('base64')}';`,
    '',
  ].join('\n');
}

/** The bytes and the rank of each token. */
function* tokensOf(name) {
  const { bpe_ranks: lines } = createRequire(import.meta.url)(`tiktoken/encoders/${name}.json`);
  for (const line of lines.split('\n')) {
    const [, first, ...tokens] = line.split(' ');
    for (const [at, token] of tokens.entries()) yield [Buffer.from(token, 'base64'), Number(first) + at];
  }
}

export const fileOf = (name) => new URL(`${name.replace('_', '-')}.ts`, folder);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of NAMES) writeFileSync(fileOf(name), packVocabulary(name));
}
