// Compiles the WebAssembly text of src/search/kernel into module.ts beside it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const folder = new URL('../src/search/kernel/', import.meta.url);

const OWN_MEMORY = '(import "kernel" "memory" (memory 1))';
/** As large as a memory can be: a shared one has to name a limit. */
const SHARED_MEMORY = '(import "kernel" "memory" (memory 1 65536 shared))';

/** The text of module.ts. */
export async function compileKernel() {
  const { parseWat } = await wabt();
  const modules = [{ name: 'scan' }, { name: 'scan', isShared: true }, { name: 'words' }].map(
    ({ name, isShared }) => {
      const text = readFileSync(new URL(`${name}.wat`, folder), 'utf8');
      const source = isShared ? text.replace(OWN_MEMORY, SHARED_MEMORY) : text;
      const { buffer } = parseWat(`${name}.wat`, source, { simd: true, threads: isShared }).toBinary({});
      const lines = Buffer.from(buffer)
        .toString('base64')
        .match(/.{1,100}/g);
      return [
        `/** The WebAssembly of ${name}.wat${isShared ? ', with a memory that threads share,' : ''} in base64. Written by scripts/kernel.mjs: do not edit. */`,
        `export const ${isShared ? 'SHARED_' : ''}${name.toUpperCase()}_BASE64 =`,
        `${lines.map((line) => `  '${line}'`).join(' +\n')};`,
        '',
      ].join('\n');
    },
  );
  return modules.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('module.ts', folder), await compileKernel());
}
