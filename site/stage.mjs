// Copies the pages of the repository to site/pages, as they lie there, so that their links hold: the site has no text of its own.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const pages = fileURLToPath(new URL('./pages/', import.meta.url));

rmSync(pages, { recursive: true, force: true });
const PATHS = [
  'docs',
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'tools/distill/README.md',
];
for (const path of PATHS) {
  mkdirSync(dirname(`${pages}${path}`), { recursive: true });
  cpSync(`${root}${path}`, `${pages}${path}`, { recursive: true });
}
mkdirSync(`${pages}.vitepress`);
writeFileSync(`${pages}.vitepress/config.mjs`, "export { default } from '../../config.mjs';\n");
