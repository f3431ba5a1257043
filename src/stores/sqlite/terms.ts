import type { Connection } from './connection.ts';

/** The ids of terms, for writing. What it remembers is valid only for as long as nobody else has written. */
export interface TermIds {
  /** The id of a term, which is made if it is new. */
  idOf(term: string): number;
  /** Makes the ids of many terms at once, all of which will be asked for: a statement for each takes several times as long. */
  make(terms: Iterable<string>): void;
  /** Forgets everything: after a rollback, another connection's write, or when terms were removed. */
  clear(): void;
}

/** Terms remembered at most; the vocabulary of 100,000 memories is of this order. */
const capacity = 100_000;

/** Of fewer, one statement for each is as quick. */
const FEWEST_AT_ONCE = 8;

export function createTermIds(connection: Connection): TermIds {
  const ids = new Map<string, number>();
  const find = 'SELECT id FROM term WHERE text = ?';
  const insert = 'INSERT INTO term (text) VALUES (?)';
  const findAll = 'SELECT text, id FROM term WHERE text IN (SELECT value FROM json_each(?))';
  // Ignoring what cannot be there costs nothing; otherwise SQLite keeps a journal, to take back half of a statement.
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
