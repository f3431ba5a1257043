import type { Connection } from './connection.ts';

/** A cache of the ids of terms, for writing. It is valid only until another connection writes. */
export interface TermIds {
  /** Returns the id of a term. Stores the term first if it is new. */
  idOf(term: string): number;
  /** Loads or creates the ids of many terms at once, before {@link idOf}. One statement per term takes several times as long. */
  make(terms: Iterable<string>): void;
  /** Empties the cache. Call it after a rollback, after another connection's write, or when terms were removed. */
  clear(): void;
}

/** The most terms in the cache. The vocabulary of 100,000 memories is of this order. */
const capacity = 100_000;

/** Below this number of terms, one statement per term is as fast. */
const FEWEST_AT_ONCE = 8;

export function createTermIds(connection: Connection): TermIds {
  const ids = new Map<string, number>();
  const find = 'SELECT id FROM term WHERE text = ?';
  const insert = 'INSERT INTO term (text) VALUES (?)';
  const findAll = 'SELECT text, id FROM term WHERE text IN (SELECT value FROM json_each(?))';
  // No term can conflict here, so OR IGNORE changes nothing, but without it SQLite keeps a journal to undo a failed statement.
  const insertAll =
    'INSERT OR IGNORE INTO term (text) SELECT value FROM json_each(?) ORDER BY key RETURNING text, id';
  return {
    idOf(term) {
      const known = ids.get(term);
      if (known !== undefined) return known;
      const found = connection.statement(find).get(term) as { id: number } | undefined;
      const id = found?.id ?? Number(connection.statement(insert).run(term).lastInsertRowid);
      if (ids.size >= capacity) ids.clear();
      ids.set(term, id);
      return id;
    },
    make(terms) {
      const wanted = [...new Set(terms)];
      let unknown = wanted.filter((term) => !ids.has(term));
      if (unknown.length < FEWEST_AT_ONCE) return;
      if (ids.size + unknown.length > capacity) {
        ids.clear();
        unknown = wanted;
      }
      const take = (sql: string, texts: readonly string[]) => {
        for (const [text, id] of connection.lists(sql, JSON.stringify(texts)))
          ids.set(text as string, id as number);
      };
      take(findAll, unknown);
      const made = unknown.filter((term) => !ids.has(term));
      if (made.length > 0) take(insertAll, made);
    },
    clear: () => ids.clear(),
  };
}
