import { readFile } from 'node:fs/promises';

/** Reads the version of this package. */
export async function readVersion(): Promise<string> {
  const json = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(json) as { version: string }).version;
}
