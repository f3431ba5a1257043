import type { Link, Neighbours, StoreReader } from '../store/store.ts';

/**
 * The links that a process has looked at, kept until they change: walks meet the same memories again and again. Whatever
 * follows the logs says what to look at anew.
 */
export interface LinkCache {
  /** The stored links of these memories, those between two of them twice, and what stands beside them in sessions. */
  read(
    rows: Pick<StoreReader, 'storedLinks' | 'neighbours'>,
    ids: readonly string[],
    /** Whether to look beside them. */
    sequence: boolean,
  ): Promise<{ readonly stored: readonly Link[]; readonly beside: readonly (Neighbours | undefined)[] }>;
  /** The links of these memories have changed. */
  forget(ids: Iterable<string>): void;
  clear(): void;
}

interface Member {
  readonly links: Link[];
  /** Known once it was asked: no memory enters a session after it was made. */
  inSession: boolean;
}

/** Memories at most whose links are kept. */
const CAPACITY = 50_000;

export function createLinkCache(capacity = CAPACITY): LinkCache {
  const members = new Map<string, Member>();
  return {
    async read(rows, ids, sequence) {
      let missing = ids.filter((id) => !members.has(id));
      if (missing.length > 0 && members.size + missing.length > capacity) {
        members.clear();
        missing = [...ids];
      }
      if (missing.length > 0) {
        const found = await rows.storedLinks(missing);
        for (const id of missing) members.set(id, { links: [], inSession: true });
        const fresh = new Set(missing);
        for (const link of found) {
          for (const id of link.ids) if (fresh.has(id)) members.get(id)?.links.push(link);
        }
      }
      const wanted = ids.map((id) => [id, members.get(id)] as const);
      const stored = wanted.flatMap(([, member]) => member?.links ?? []);
      const asked = wanted.filter(([, member]) => member?.inSession !== false);
      const beside = sequence && asked.length > 0 ? await rows.neighbours(asked.map(([id]) => id)) : [];
      if (sequence) {
        asked.forEach(([, member], at) => {
          if (member && beside[at] === undefined) member.inSession = false;
        });
      }
      return { stored, beside };
    },
    forget(ids) {
      for (const id of ids) members.delete(id);
    },
    clear: () => members.clear(),
  };
}
