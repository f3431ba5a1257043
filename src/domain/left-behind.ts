import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/**
 * Begins the name of a file or folder that this process makes on its way to something whole, and removes before it ends. The
 * rest of the name is by chance. It says whose it is, so that {@link removeLeftBehind} finds what a killed process has left.
 */
export function temporaryPrefix(kind: string): string {
  return `${kind}${process.pid}-${namespaceOfProcesses()}-`;
}

/**
 * Removes what processes that live no longer have left in a folder, of this kind: it may hold what was forgotten since. What cannot be looked at or removed stays. So does what was made where processes have other numbers,
 * in another container or on another machine that shares the folder: whether those live cannot be known here.
 */
export function removeLeftBehind(folder: string, kind: string): void {
  const here = namespaceOfProcesses();
  for (const name of namesIn(folder)) {
    if (!name.startsWith(kind)) continue;
    const [, pid, namespace] = /^(\d+)-([0-9a-f]{16})-[A-Za-z0-9]+$/.exec(name.slice(kind.length)) ?? [];
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

/** Only of this user: nobody else can then exchange what is in it meanwhile. */
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

/** The same for all processes among which a number means one: containers of one machine have numbers of their own. */
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
