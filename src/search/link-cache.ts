import type { Link, Neighbours, StoreReader } from '../store/store.ts';

/**
 * The links that a process has read, kept until they change: walks visit the same memories again and again. Whoever
 * follows the logs tells the cache what has changed.
 */
export interface LinkCache {
  /**
   * Returns the stored links of these memories, and their neighbours in sessions. A link between two of them comes
   * twice.
   */
  read(
    rows: Pick<StoreReader, 'storedLinks' | 'neighbours'>,
    ids: readonly string[],
    /** Whether to return the neighbours. */
    sequence: boolean,
  ): Promise<{ readonly stored: readonly Link[]; readonly beside: readonly (Neighbours | undefined)[] }>;
  /** Drops the links of these memories. */
  forget(ids: Iterable<string>): void;
  /** Marks links between these memories as changed. Only those are read again. */
  renew(ids: readonly string[]): void;
  clear(): void;
}

interface Member {
  links: Link[];
  /** Whether the memory may have neighbours. Once false it stays so: no memory enters a session after it was made. */
  inSession: boolean;
}

/** The most memories whose links are kept. */
const CAPACITY = 50_000;

/** When more memories than this have changed, their links are forgotten instead of renewed. */
const MOST_RENEWED = 200;

export function createLinkCache(capacity = CAPACITY): LinkCache {
  const members = new Map<string, Member>();
  const changed = new Set<string>();
  let renewed: Promise<void> | undefined;
  const forget = (ids: Iterable<string>) => {
    for (const id of ids) members.delete(id);
  };
  const renew = async (rows: Pick<StoreReader, 'storedLinks'>) => {
    const among = new Set(changed);
    changed.clear();
    const known = [...among].flatMap((id) => members.get(id) ?? []);
    if (known.length === 0) return;
    try {
      const found = await rows.storedLinks([...among], { among: true });
      for (const member of known)
        member.links = member.links.filter(({ ids }) => !ids.every((id) => among.has(id)));
      for (const link of found) {
        for (const id of link.ids) members.get(id)?.links.push(link);
      }
    } catch (error) {
      forget(among);
      throw error;
    }
  };
  return {
    async read(rows, ids, sequence) {
      if (changed.size > 0) {
        renewed = renew(rows).finally(() => {
          renewed = undefined;
        });
      }
      await renewed;
      let missing = ids.filter((id) => !members.has(id));
      if (missing.length > 0 && members.size + missing.length > capacity) {
        members.clear();
        missing = [...ids];
      }
      // Another read may drop these entries while this one waits.
      const known = new Map(ids.map((id) => [id, members.get(id)]));
      if (missing.length > 0) {
        const found = await rows.storedLinks(missing);
        const fresh = new Map(missing.map((id): [string, Member] => [id, { links: [], inSession: true }]));
        for (const link of found) {
          for (const id of link.ids) fresh.get(id)?.links.push(link);
        }
        for (const [id, member] of fresh) {
          members.set(id, member);
          known.set(id, member);
        }
      }
      const wanted = ids.map((id) => [id, known.get(id)] as const);
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
    forget,
    renew(ids) {
      if (ids.length + changed.size > MOST_RENEWED) {
        forget(ids);
        forget(changed);
        changed.clear();
      } else for (const id of ids) changed.add(id);
    },
    clear: () => members.clear(),
  };
}
