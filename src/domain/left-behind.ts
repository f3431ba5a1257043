import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/**
 * The prefix of the names of temporary files and folders of this process; the rest of the name is random. The prefix
 * identifies the process, so that {@link removeLeftBehind} finds what a killed process has left.
 */
export function temporaryPrefix(kind: string): string {
  return `${kind}${process.pid}-${namespaceOfProcesses()}-`;
}

/**
 * Removes temporary files of a kind, and SQLite's journals of them, that ended processes have left in a folder, since they may
 * contain memories that were forgotten later. Keeps what it cannot read or remove, and files of another container or machine that shares the folder:
 * it cannot know whether those processes still run.
 */
export function removeLeftBehind(folder: string, kind: string): void {
  const here = namespaceOfProcesses();
  for (const name of namesIn(folder)) {
    if (!name.startsWith(kind)) continue;
    const [, pid, namespace] =
      /^(\d+)-([0-9a-f]{16})-[A-Za-z0-9]+(?:-journal)?$/.exec(name.slice(kind.length)) ?? [];
    if (namespace === here && !isAlive(Number(pid))) removeOwn(join(folder, name));
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes a path only if it belongs to this user, so that nobody else can swap its content meanwhile. */
function removeOwn(path: string): void {
  try {
    const { uid } = lstatSync(path);
    if (process.getuid === undefined || uid === process.getuid())
      rmSync(path, { recursive: true, force: true });
  } catch {}
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

let known: string | undefined;

/** Identifies the namespace in which process ids are unique. Each container of a machine has its own. */
function namespaceOfProcesses(): string {
  if (known !== undefined) return known;
  const parts = [
    hostname(),
    unlessFailed(() => readFileSync('/etc/machine-id', 'utf8')),
    unlessFailed(() => readlinkSync('/proc/self/ns/pid')),
  ];
  known = createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 16);
  return known;
}

function unlessFailed(ask: () => string): string {
  try {
    return ask();
  } catch {
    return '';
  }
}
