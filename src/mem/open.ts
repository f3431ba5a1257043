import { type MemoryEngine, type OpenOptions, openMemory, SalienceError } from '../index.ts';
import { onlyKeys } from '../model/options.ts';
import { OPEN_OPTIONS } from '../open-options.ts';
import { type MemFunctions, memFunctions } from './facade.ts';

/** As for `openMemory`; the space is the `user_id` of each call. */
export interface MemOptions extends Omit<OpenOptions, 'space'> {
  /** Types that `mem_save` takes besides profile, preference, decision, discovery and pattern. */
  readonly types?: readonly string[] | undefined;
}

const memKeys = [...OPEN_OPTIONS.filter((name) => name !== 'space'), 'types'];

export interface Mem extends MemFunctions, AsyncDisposable {
  close(): Promise<void>;
}

/**
 * Opens the observations of many users in one place. A user's are opened with the first call that names them, and stay
 * open until `close`. Throws `invalid_argument` for an unknown option.
 */
export function openMem(given: MemOptions): Mem {
  onlyKeys(given, memKeys, 'openMem');
  const { types, ...options } = given;
  const open = new Map<string, Promise<MemoryEngine>>();
  let closed = false;
  async function memoryOf(user: string): Promise<MemoryEngine> {
    if (closed) throw new SalienceError('closed', 'the memory was closed; call openMem anew');
    const known = open.get(user);
    if (known) return known;
    const opening = openMemory({ ...options, space: user });
    open.set(user, opening);
    // Another call may succeed where this one failed.
    opening.catch(() => open.delete(user));
    return opening;
  }
  async function close(): Promise<void> {
    closed = true;
    const opened = await Promise.allSettled(open.values());
    open.clear();
    await Promise.all(opened.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)));
  }
  return { ...memFunctions(memoryOf, types), close, [Symbol.asyncDispose]: close };
}
