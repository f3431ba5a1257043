import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import type { MemoryEngine } from '../index.ts';
import type { ImportItem } from './item.ts';
import type { Usable } from './known.ts';

type Link = Extract<ImportItem, { kind: 'link' }>;

/** The links that sources state. They are written last, when both ends are there, whatever their order. */
export interface ImportLinks {
  add(link: Link): void;
  /** Notes as which memory an item is there now. */
  name(item: Usable, id: string): void;
  /** States the links that are not there yet, and reports those of which an end is missing. Returns how many are new. */
  write(
    open: () => Promise<MemoryEngine>,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly onLeftOut?: ((what: string) => void) | undefined;
    },
  ): Promise<number>;
}

export function createImportLinks(): ImportLinks {
  const links: Link[] = [];
  const idOf = new Map<string, string>();
  const find = (names: readonly string[]) =>
    names.map((name) => idOf.get(name)).find((id) => id !== undefined);
  return {
    add: (link) => void links.push(link),
    name(item, id) {
      // Of several with one name the first is meant.
      for (const name of (item.kind === 'statement' && item.names) || []) {
        if (!idOf.has(name)) idOf.set(name, id);
      }
    },
    async write(open, { signal, onLeftOut }) {
      const done = new Set<string>();
      let count = 0;
      for (const { from, to, relation } of links) {
        const [a, b] = [find(from), find(to)];
        if (a === undefined || b === undefined) {
          onLeftOut?.('links to what is not in the import');
          continue;
        }
        const statement = relation && find(relation.statedBy);
        if (statement !== undefined && a !== b) {
          throwIfAborted(signal);
          await relate(await open(), [a, relation?.name ?? '', b], statement, signal);
        }
        const pair = JSON.stringify([a, b].sort());
        if (a === b || done.has(pair)) continue;
        done.add(pair);
        throwIfAborted(signal);
        if (await state(await open(), a, b, signal)) count++;
      }
      return count;
    },
  };
}

/** Notes a relation with the statement that says so, if it is not there yet. */
async function relate(
  memory: MemoryEngine,
  [from, name, to]: readonly [string, string, string],
  statement: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const known = (await memory.get(statement))?.relations ?? [];
  if (known.some((each) => each.from === from && each.name === name && each.to === to)) return;
  try {
    await memory.relate(from, name, to, { statedBy: [statement], signal });
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.code !== 'not_found') throw error;
  }
}

/** Whether the link is new; a memory that somebody forgot meanwhile has none. */
async function state(
  memory: MemoryEngine,
  a: string,
  b: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const known = await memory.links(a, { signal });
    if (known.some(({ id, kind }) => id === b && kind === 'stated')) return false;
    await memory.link(a, b, { signal });
    return true;
  } catch (error) {
    if (SalienceError.isInstance(error) && error.code === 'not_found') return false;
    throw error;
  }
}
