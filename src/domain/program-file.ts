import { join } from 'node:path';

/**
 * The file of the program, for finding files beside the code. Bundles in CommonJS have `__filename` but no
 * `import.meta.url`; ES modules have no `__filename`.
 */
export function programFile(): string {
  if (typeof __filename === 'string') return __filename;
  return process.argv[1] ?? join(process.cwd(), 'program.js');
}
