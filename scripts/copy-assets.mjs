// tsc copies no binary assets; the built-in embedder's table belongs beside its reader.
import { cpSync, existsSync, mkdirSync } from 'node:fs';

const assets = ['providers/builtin/table.bin'];
for (const asset of assets) {
  const from = new URL(`../src/${asset}`, import.meta.url);
  const to = new URL(`../dist/${asset}`, import.meta.url);
  if (!existsSync(from)) throw new Error(`missing asset src/${asset}`);
  mkdirSync(new URL('.', to), { recursive: true });
  cpSync(from, to);
}
