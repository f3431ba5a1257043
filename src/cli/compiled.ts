import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { getHeapCodeStatistics } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { makeDirectory } from '../domain/make-directory.ts';

/** A CommonJS package, which `require` loads faster than `import()`. */
const REQUIRED = '@photostructure/sqlite';

/**
 * A cache file begins with the CRC-32 of everything after it, and then the bytes of code that V8 had when it was
 * written.
 */
const CHECKSUM_BYTES = 4;
const HEAD_BYTES = CHECKSUM_BYTES + 4;
const KEPT_MILLISECONDS = 30 * 86_400_000;
/**
 * A younger file is written again by a run with more than `GROWTH` times as much code, because the first run may only
 * have printed its help.
 */
const GROWING_MILLISECONDS = 86_400_000;
const GROWTH = 1.05;

/**
 * Runs a script of this package, which is the function of a CommonJS module, and returns its exports. What V8 compiled
 * for the command is stored in the user's cache, so that later processes need not compile it
 * (docs/decisions/0131-compiled-commands.md). A cache that is missing, damaged or from another Node.js only costs time.
 * `NODE_DISABLE_COMPILE_CACHE=1` disables it, as in Node.js itself.
 */
export function loadCompiled<Exports>(file: string, command: string): Exports {
  const source = readFileSync(file);
  const kept = cacheFile(command, file, source);
  const found = kept ? readKept(kept) : undefined;
  const cachedData = found?.data;
  // The script is pure ASCII. Decoded as `latin1`, a source over a megabyte stays outside of the heap and is not
  // copied.
  const script = new Script(source.toString('latin1'), {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
  });
  const require = createRequire(file);
  const module = { exports: {} as Exports };
  // `import()` in a script from a cache fails on Node.js 20, so the script calls this function instead.
  const importModule = async (name: string): Promise<unknown> =>
    isBuiltin(name) || name === REQUIRED ? require(name) : import(name);
  script.runInThisContext()(module.exports, require, module, file, dirname(file), importModule);
  const isNew = !found || script.cachedDataRejected === true;
  if (kept && (isNew || found.isYoung)) {
    // At exit, so that everything the command called is included, and only after success.
    process.once('exit', (code) => {
      if (code !== 0) return;
      const { bytecode_and_metadata_size: size } = getHeapCodeStatistics();
      if (isNew || size > GROWTH * found.size) keep(kept, size, () => script.createCachedData());
    });
  }
  return module.exports;
}

/**
 * Returns the cache file. Its name contains everything that V8 does not check itself. `undefined` if nothing is cached.
 */
function cacheFile(command: string, file: string, source: Buffer): string | undefined {
  if (process.env['NODE_DISABLE_COMPILE_CACHE'] || !/^[a-z-]+$/.test(command)) return undefined;
  const folder = cacheFolder();
  const checksum = crc32(file, crc32(source)).toString(16);
  return folder && join(folder, `${command}-${process.version}-${process.arch}-${checksum}.v8`);
}

function cacheFolder(): string | undefined {
  const named = process.env['XDG_CACHE_HOME'];
  if (named && isAbsolute(named)) return join(named, 'salience');
  const home = homedir();
  if (!isAbsolute(home)) return undefined;
  const local = process.env['LOCALAPPDATA'];
  return process.platform === 'win32' && local
    ? join(local, 'salience', 'cache')
    : join(home, '.cache', 'salience');
}

interface Kept {
  readonly data: Buffer;
  /** Bytes of code that V8 had when it was written. */
  readonly size: number;
  readonly isYoung: boolean;
}

function readKept(file: string): Kept | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    // Cached code is run unseen, so the file must belong to this user. The check uses the open file, which nobody can
    // replace.
    const found = fstatSync(descriptor);
    if (!isOwn(found)) return undefined;
    const bytes = readFileSync(descriptor);
    // V8 does not validate the data.
    if (bytes.length <= HEAD_BYTES || bytes.readUInt32LE(0) !== crc32(bytes.subarray(CHECKSUM_BYTES)))
      return undefined;
    return {
      data: bytes.subarray(HEAD_BYTES),
      size: bytes.readUInt32LE(CHECKSUM_BYTES),
      isYoung: Date.now() - found.mtimeMs < GROWING_MILLISECONDS,
    };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Writes the cache file atomically, even if several processes do so at once. A failure to write is ignored. */
function keep(file: string, size: number, compile: () => Buffer): void {
  const folder = dirname(file);
  const unfinished = `${file}.${process.pid}-${process.hrtime.bigint()}`;
  try {
    if (!mayMake(folder)) return;
    makeDirectory(folder, 0o700);
    if (!isOwn(lstatSync(folder))) return;
    const bytes = Buffer.concat([Buffer.alloc(HEAD_BYTES), compile()]);
    bytes.writeUInt32LE(size, CHECKSUM_BYTES);
    bytes.writeUInt32LE(crc32(bytes.subarray(CHECKSUM_BYTES)));
    try {
      writeFileSync(unfinished, bytes, { flag: 'wx', mode: 0o600 });
      renameSync(unfinished, file);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    removeOld(folder);
  } catch {}
}

/** Removes files older than 30 days, such as those of old versions and of interrupted processes. */
function removeOld(folder: string): void {
  const before = Date.now() - KEPT_MILLISECONDS;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.includes('.v8') && lstatSync(path).mtimeMs < before) rmSync(path, { force: true });
  }
}

/**
 * Whether the cache may be created. Not in the home of another user, which `sudo` and containers leave in the
 * environment: that user could not write there any more.
 */
function mayMake(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return dirname(folder) !== folder && mayMake(dirname(folder));
  return process.getuid === undefined || found.uid === process.getuid();
}

/** Whether a file belongs to this user and nobody else may write it. */
function isOwn({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
