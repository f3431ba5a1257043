import type { Tier } from '../../../domain/memory.ts';
import { keyOfMemory } from '../content-key.ts';
import type { Migration } from '../schema.ts';

/**
 * Provenance: the order of insertion, authors and sessions, the sources of a memory, the key that finds equal statements, and the
 * settings of a space (in `meta`).
 */
export const provenance: Migration = {
  version: 4,
  sql: `
    -- Rows were given in the order of insertion, and never twice.
    ALTER TABLE memory ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;
    UPDATE memory SET ordinal = row;
    CREATE UNIQUE INDEX memory_ordinal ON memory (ordinal);
    INSERT OR REPLACE INTO meta (key, value)
      SELECT 'ordinal', CAST(seq AS TEXT) FROM sqlite_sequence WHERE name = 'memory';

    ALTER TABLE memory ADD COLUMN author TEXT;
    ALTER TABLE memory ADD COLUMN role TEXT;
    ALTER TABLE memory ADD COLUMN seen INTEGER;
    ALTER TABLE memory ADD COLUMN derived_from TEXT NOT NULL DEFAULT '[]';

    CREATE INDEX memory_derived ON memory (row) WHERE derived_from <> '[]';
    -- A consolidation is linked with what it was made of.
    UPDATE memory SET derived_from = coalesce(
      (SELECT json_group_array(id) FROM (
         SELECT other.id FROM link JOIN memory AS other ON other.row = iif(a_row = memory.row, b_row, a_row)
         WHERE kind = 'consolidation' AND memory.row IN (a_row, b_row) AND other.consolidated_at IS NOT NULL
         ORDER BY other.created_at, other.row)), '[]')
      WHERE source = 'consolidated';

    -- The session at creation: that of the oldest version that the log still has.
    ALTER TABLE memory ADD COLUMN born_in TEXT;
    UPDATE memory SET born_in = coalesce(
      (SELECT coalesce(json_extract(before, '$.sessionId'), '') FROM event
       WHERE memory_id = memory.id AND before IS NOT NULL ORDER BY sequence LIMIT 1),
      session_id);
    UPDATE memory SET born_in = NULL WHERE born_in = '';

    -- Earlier versions of a memory have its place in the order, and the session it was made in.
    UPDATE event SET before = json_set(before, '$.ordinal', coalesce(
      (SELECT ordinal FROM memory WHERE id = memory_id), memory_row)) WHERE before IS NOT NULL;
    UPDATE event SET before = json_set(before, '$.bornIn', coalesce(
      (SELECT born_in FROM memory WHERE id = memory_id), json_extract(before, '$.sessionId')))
      WHERE before IS NOT NULL
        AND coalesce((SELECT born_in FROM memory WHERE id = memory_id), json_extract(before, '$.sessionId')) IS NOT NULL;

    -- How often a model was asked about a pair without a usable answer.
    ALTER TABLE similar_pair ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;

    -- The operations of one run carry its id; settings: those of the space before the event, as JSON.
    ALTER TABLE event ADD COLUMN run TEXT;
    UPDATE event SET verb = 'reinstate' WHERE verb = 'revive';
    CREATE INDEX event_run ON event (run) WHERE run IS NOT NULL;
    ALTER TABLE event ADD COLUMN settings TEXT;
    -- Where memories have faded, they go on doing so.
    INSERT OR REPLACE INTO meta (key, value) SELECT 'settings', json_object(
      'fading', iif(EXISTS (SELECT 1 FROM memory WHERE tier <> 'hot'),
        json_object('mode', 'retention', 'curve', 'exponential', 'daysAtFloor', 7, 'daysCold', 180),
        json_object('mode', 'off')),
      'timeZone', 'UTC');

    DROP INDEX memory_updated;
    CREATE INDEX memory_updated ON memory (updated_at DESC, ordinal DESC);
    DROP INDEX memory_created;
    CREATE INDEX memory_created ON memory (created_at, ordinal);
    DROP INDEX memory_session;
    CREATE INDEX memory_session ON memory (session_id) WHERE session_id IS NOT NULL;
    CREATE INDEX memory_born_in ON memory (born_in, created_at, ordinal) WHERE born_in IS NOT NULL;

    -- A short hash of the normalised content; a stub has that of its full text.
    ALTER TABLE memory ADD COLUMN content_key INTEGER NOT NULL DEFAULT 0;
    DROP INDEX memory_content;
    CREATE INDEX memory_content ON memory (content_key);
  `,
  run(connection) {
    const page = `SELECT row, id, tier, content FROM memory WHERE row > ? ORDER BY row LIMIT ${PAGE}`;
    let rows = connection.all(page, 0) as Row[];
    while (rows.length > 0) {
      for (const each of rows) {
        connection.run(
          'UPDATE memory SET content_key = ? WHERE row = ?',
          keyOfMemory(connection, each),
          each.row,
        );
      }
      rows = connection.all(page, rows.at(-1)?.row ?? 0) as Row[];
    }
  },
};

const PAGE = 1000;

interface Row {
  readonly row: number;
  readonly id: string;
  readonly tier: Tier;
  readonly content: string;
}
