import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Connection, connect, IN_MEMORY } from './connection.ts';
import { createTermIds } from './terms.ts';

let connection: Connection;
beforeEach(async () => {
  connection = await connect(IN_MEMORY, { readOnly: false, timeout: 0 });
  connection.database.exec('CREATE TABLE space.term (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)');
});
afterEach(() => connection.close());

const stored = () =>
  new Map(connection.lists('SELECT text, id FROM term').map(([text, id]) => [text as string, id as number]));

describe('the ids of terms', () => {
  it('made at once are those made one by one', () => {
    const term = fc.oneof(
      fc.constantFrom('tea', 'te"a', "te'a", 'te\\a', '東京', '\u2028', '🫖', 'null', '1', '[]'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }).filter((text) => !text.includes('\0')),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(term, { maxLength: 30 }), { maxLength: 4 }),
        fc.boolean(),
        (batches, clears) => {
          connection.run('DELETE FROM term');
          const ids = createTermIds(connection);
          const expected = new Map<string, number>();
          for (const batch of batches) {
            ids.make(batch);
            for (const each of batch) {
              if (!expected.has(each)) expected.set(each, expected.size + 1);
              expect(ids.idOf(each)).toBe(expected.get(each));
            }
            if (clears) ids.clear();
          }
          expect(stored()).toEqual(expected);
        },
      ),
    );
  });
});
