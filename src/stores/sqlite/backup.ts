import { existsSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import type { ReadAside } from './aside.ts';
import type { Connection } from './connection.ts';
import { translateFileError } from './faults.ts';

const VACUUM = 'VACUUM space INTO ?';

/** Writes a compact copy of the last committed state into a new file, and waits until the disk has it. */
export async function backupTo(connection: Connection, path: string, aside?: ReadAside): Promise<void> {
  const target = resolve(path);
  if (existsSync(target)) {
    throw new SalienceError(
      'already_exists',
      `${target} exists already, and a backup overwrites nothing; give a new name`,
      { details: { path: target } },
    );
  }
  try {
    if (!(await aside?.(connection.path, VACUUM, target))) {
      rmSync(target, { force: true });
      connection.run(VACUUM, target);
    }
    const file = await open(target, 'r+');
    await file.sync().finally(() => file.close());
  } catch (error) {
    rmSync(target, { force: true });
    throw translateFileError(error, target);
  }
}
