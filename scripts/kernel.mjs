// Compiles the WebAssembly text of src/search/kernel into module.ts beside it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const folder = new URL('../src/search/kernel/', import.meta.url);

/** The text of module.ts. */
export async function compileKernel() {
  const { parseWat } = await wabt();
  const modules = ['scan', 'words'].map((name) => {
    const source = readFileSync(new URL(`${name}.wat`, folder), 'utf8');
    const { buffer } = parseWat(`${name}.wat`, source, { simd: true }).toBinary({});
    const lines = Buffer.from(buffer)
      .toString('base64')
      .match(/.{1,100}/g);
    return [
      `/** The WebAssembly of ${name}.wat in base64. Written by scripts/kernel.mjs: do not edit. */`,
      `export const ${name.toUpperCase()}_BASE64 =`,
      `${lines.map((line) => `  '${line}'`).join(' +\n')};`,
      '',
    ].join('\n');
  });
  return modules.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('module.ts', folder), await compileKernel());
}
