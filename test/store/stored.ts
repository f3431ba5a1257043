import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/stores/sqlite/connection.ts';

/**
 * The content of every file in a directory, read in one go. A file that its process takes away meanwhile has nothing
 * to hide, and is left out.
 */
export function filesIn(directory: string): readonly Buffer[] {
  return readdirSync(directory).flatMap((name) => {
    try {
      return [readFileSync(join(directory, name))];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Every row of every table of a space's file, blobs included, by the table's name. */
export async function tablesIn(path: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const connection = await connect(path, { readOnly: true, timeout: 1000 });
  try {
    const tables = connection.all("SELECT name FROM space.sqlite_schema WHERE type = 'table' ORDER BY name");
    return Object.fromEntries(
      (tables as { name: string }[]).map(({ name }) => [name, connection.all(`SELECT * FROM ${name}`)]),
    );
  } finally {
    connection.close();
  }
}

/** The one space's file in a directory. */
export function fileIn(directory: string): string {
  const names = readdirSync(directory).filter((name) => name.endsWith('.db'));
  if (names.length !== 1) throw new Error(`${names.length} spaces are in ${directory}, not one`);
  return join(directory, names[0] as string);
}
