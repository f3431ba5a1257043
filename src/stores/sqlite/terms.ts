import type { Connection } from './connection.ts';

/** The ids of terms, for writing. What it remembers is valid only for as long as nobody else has written. */
export interface TermIds {
  /** The id of a term, which is made if it is new. */
  idOf(term: string): number;
  /** Forgets everything: after a rollback, another connection's write, or when terms were removed. */
  clear(): void;
}

/** Terms remembered at most; the vocabulary of 100,000 memories is of this order. */
const capacity = 100_000;

export function createTermIds(connection: Connection): TermIds {
  const ids = new Map<string, number>();
  const find = 'SELECT id FROM term WHERE text = ?';
  const insert = 'INSERT INTO term (text) VALUES (?)';
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
    clear: () => ids.clear(),
  };
}
