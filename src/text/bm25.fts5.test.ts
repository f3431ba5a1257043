import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { termCounts } from './analyze.ts';
import { bm25Score, prepareBm25Query } from './bm25.ts';

/** FTS5's own idf: no prior, and cut where a term is in more than half of the rows. */
function fts5InverseDocumentFrequency(rowCount: number, documentFrequency: number): number {
  const idf = Math.log((rowCount - documentFrequency + 0.5) / (documentFrequency + 0.5));
  return idf <= 0 ? 1e-6 : idf;
}

test('with the idf of FTS5, the scores are those of its bm25()', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE VIRTUAL TABLE memory USING fts5(text, tokenize = 'ascii')`);
  const insert = database.prepare('INSERT INTO memory (rowid, text) VALUES (?, ?)');
  const select = database.prepare(
    'SELECT rowid AS row, bm25(memory) AS score FROM memory WHERE memory MATCH ? ORDER BY rowid',
  );

  const term = fc.integer({ min: 0, max: 25 }).map((letter) => `t${String.fromCharCode(97 + letter)}`);
  // Half of the words from six terms, so that some are repeated and some are in most rows.
  const frequent = fc.constantFrom('ta', 'tb', 'tc', 'td', 'te', 'tf');
  const memory = fc.array(fc.oneof(term, frequent), { minLength: 1, maxLength: 25, size: 'max' });
  let compared = 0;

  const property = fc.property(
    fc.array(memory, { minLength: 1, maxLength: 40, size: 'max' }),
    fc.uniqueArray(term, { minLength: 1, maxLength: 6 }),
    (memories, terms) => {
      database.exec('DELETE FROM memory');
      for (const [row, words] of memories.entries()) insert.run(row, words.join(' '));

      const counts = memories.map((words) => termCounts(words));
      const documentFrequency = (word: string) => counts.filter((count) => count.has(word)).length;
      const memoryCount = memories.length;
      const averageLength = memories.reduce((sum, words) => sum + words.length, 0) / memoryCount;
      const query = prepareBm25Query(terms, { memoryCount, averageLength, documentFrequency }, (word) =>
        fts5InverseDocumentFrequency(memoryCount, documentFrequency(word)),
      );
      const ours = memories
        .map((words, row) => ({
          row,
          score: bm25Score(query, (word) => counts[row]!.get(word), words.length),
        }))
        .filter(({ score }) => score > 0);

      const theirs = select.all(terms.map((word) => `"${word}"`).join(' OR ')) as {
        row: number;
        score: number;
      }[];
      expect(ours.map(({ row }) => row)).toEqual(theirs.map(({ row }) => row));
      for (const [index, { score }] of ours.entries()) {
        const expected = -theirs[index]!.score;
        expect(Math.abs(score - expected)).toBeLessThanOrEqual(1e-9 * expected);
        compared += 1;
      }
    },
  );

  try {
    fc.assert(property, { numRuns: 300, seed: 1, verbose: true }); // a failure prints its seed and the smallest corpus
  } finally {
    database.close();
  }
  expect(compared).toBeGreaterThan(2000);
});
