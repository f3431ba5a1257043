import { join } from 'node:path';

/**
 * The file of the program, for what is looked for beside code: a bundler that makes CommonJS leaves no
 * `import.meta.url`, but `__filename`, which modules lack.
 */
export function programFile(): string {
  if (typeof __filename === 'string') return __filename;
  return process.argv[1] ?? join(process.cwd(), 'program.js');
}
