// Compiles src/search/kernel/scan.wat into module.ts beside it; with --check, says whether that is what stands there.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const folder = new URL('../src/search/kernel/', import.meta.url);

/** The text of module.ts. */
export async function compileKernel() {
  const source = readFileSync(new URL('scan.wat', folder), 'utf8');
  const parsed = (await wabt()).parseWat('scan.wat', source, { simd: true });
  const { buffer } = parsed.toBinary({});
  const lines = Buffer.from(buffer)
    .toString('base64')
    .match(/.{1,100}/g);
  return [
    '/** The WebAssembly of scan.wat in base64. Written by scripts/kernel.mjs: do not edit. */',
    'export const KERNEL_BASE64 =',
    `${lines.map((line) => `  '${line}'`).join(' +\n')};`,
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('module.ts', folder), await compileKernel());
}
