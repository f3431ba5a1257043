import type { Migration } from '../schema.ts';

/**
 * The tables of SQLite's schema version 6. `space_id` comes first in every key: 16 bytes of the SHA-256 of the space's name. Texts are
 * compared byte by byte. JSON is stored as text, so that it comes back unchanged.
 */
export const initial: Migration = {
  version: 1,
  sql: `
    -- One narrow row a space: what a read must know of it, and what a write locks and verifies. stamp is another random
    -- value after every write; key, ordinal, pair and recording are the last ones given.
    CREATE TABLE space (
      space_id             uuid PRIMARY KEY,
      name                 text COLLATE "C" NOT NULL,
      stamp                text COLLATE "C" NOT NULL,
      sequence             bigint NOT NULL DEFAULT 0,
      at                   bigint NOT NULL DEFAULT 0,
      event_stamp          text COLLATE "C" NOT NULL DEFAULT '',
      usage                bigint NOT NULL DEFAULT 0,
      used_at              bigint NOT NULL DEFAULT 0,
      usage_stamp          text COLLATE "C" NOT NULL DEFAULT '',
      key                  bigint NOT NULL DEFAULT 0,
      ordinal              bigint NOT NULL DEFAULT 0,
      pair                 bigint NOT NULL DEFAULT 0,
      recording            bigint NOT NULL DEFAULT 0,
      generation           bigint NOT NULL DEFAULT 0,
      relations            bigint NOT NULL DEFAULT 0,
      embedding_model      text COLLATE "C",
      embedding_dimensions bigint,
      analyzer             text COLLATE "C",
      settings             text COLLATE "C" NOT NULL,
      tombstone_key        text COLLATE "C" NOT NULL
    ) WITH (fillfactor = 50);

    -- What belongs to no space: the tokens of servers.
    CREATE TABLE shared (
      kind text COLLATE "C" NOT NULL,
      id   text COLLATE "C" NOT NULL,
      text text COLLATE "C" NOT NULL,
      PRIMARY KEY (kind, id)
    );

    -- Instants are milliseconds. key is never used twice.
    CREATE TABLE memory (
      space_id          uuid NOT NULL,
      key               bigint NOT NULL,
      id                text COLLATE "C" NOT NULL,
      content           text COLLATE "C" NOT NULL,
      type              text COLLATE "C" NOT NULL,
      scope             text COLLATE "C" NOT NULL,
      title             text COLLATE "C",
      tags              text COLLATE "C" NOT NULL,
      importance        double precision NOT NULL,
      confidence        double precision NOT NULL,
      weight            double precision NOT NULL,
      valid_from        bigint,
      valid_until       bigint,
      expires_at        bigint,
      topic_key         text COLLATE "C",
      supersedes        text COLLATE "C" NOT NULL,
      metadata          text COLLATE "C" NOT NULL,
      aliases           text COLLATE "C",
      kind              text COLLATE "C",
      relations         text COLLATE "C",
      author            text COLLATE "C",
      role              text COLLATE "C",
      session_id        text COLLATE "C",
      created_at        bigint NOT NULL,
      updated_at        bigint NOT NULL,
      source            text COLLATE "C" NOT NULL,
      source_ref        text COLLATE "C",
      ordinal           bigint NOT NULL,
      born_in           text COLLATE "C",
      last_accessed_at  bigint,
      seen              bigint,
      invalidated_at    bigint,
      invalid_reason    text COLLATE "C",
      cold_since        bigint,
      consolidated_at   bigint,
      importance_judge  text COLLATE "C" NOT NULL,
      usefulness        double precision NOT NULL,
      stability         double precision NOT NULL,
      access_count      bigint NOT NULL,
      sessions          text COLLATE "C" NOT NULL,
      revision_count    bigint NOT NULL,
      tier              text COLLATE "C" NOT NULL,
      core              boolean NOT NULL,
      derived_from      text COLLATE "C" NOT NULL,
      content_key       bigint NOT NULL,
      compared          boolean NOT NULL,
      PRIMARY KEY (space_id, key),
      UNIQUE (space_id, id)
    ) WITH (fillfactor = 85);
    CREATE INDEX memory_updated ON memory (space_id, updated_at, ordinal);
    CREATE INDEX memory_created ON memory (space_id, created_at, ordinal);
    CREATE INDEX memory_content ON memory (space_id, content_key);
    CREATE INDEX memory_topic ON memory (space_id, topic_key) WHERE topic_key IS NOT NULL;
    CREATE INDEX memory_session ON memory (space_id, session_id) WHERE session_id IS NOT NULL;
    CREATE INDEX memory_born_in ON memory (space_id, born_in, created_at, ordinal) WHERE born_in IS NOT NULL;
    CREATE INDEX memory_uncompared ON memory (space_id, key) WHERE NOT compared AND tier = 'hot';
    CREATE INDEX memory_derived ON memory (space_id, key) WHERE derived_from <> '[]';

    -- Of the text of a memory: its terms as JSON, each followed by how often it occurs, and its vector, float32, little
    -- endian. Those of the space's generation count; a reindex writes the next one beside them.
    CREATE TABLE derived (
      space_id   uuid NOT NULL,
      generation bigint NOT NULL,
      key        bigint NOT NULL,
      terms      text COLLATE "C" NOT NULL,
      vector     bytea,
      PRIMARY KEY (space_id, generation, key)
    );
    ALTER TABLE derived ALTER COLUMN vector SET STORAGE EXTERNAL;

    -- stamp: random, one for each operation. before: the memory before the write, as JSON. other_id: the second end of a link.
    CREATE TABLE event (
      space_id   uuid NOT NULL,
      sequence   bigint NOT NULL,
      operation  bigint NOT NULL,
      stamp      text COLLATE "C" NOT NULL,
      at         bigint NOT NULL,
      verb       text COLLATE "C" NOT NULL,
      memory_key bigint NOT NULL,
      memory_id  text COLLATE "C" NOT NULL,
      before     text COLLATE "C",
      redacted   boolean NOT NULL,
      undoes     bigint,
      link       text COLLATE "C",
      other_id   text COLLATE "C",
      run        text COLLATE "C",
      settings   text COLLATE "C",
      PRIMARY KEY (space_id, sequence)
    );
    CREATE INDEX event_memory ON event (space_id, memory_id);
    CREATE INDEX event_operation ON event (space_id, operation);
    CREATE INDEX event_undoes ON event (space_id, undoes) WHERE undoes IS NOT NULL;
    CREATE INDEX event_other ON event (space_id, other_id) WHERE other_id IS NOT NULL;
    CREATE INDEX event_run ON event (space_id, run) WHERE run IS NOT NULL;

    CREATE TABLE usage (
      space_id    uuid NOT NULL,
      sequence    bigint NOT NULL,
      stamp       text COLLATE "C" NOT NULL,
      at          bigint NOT NULL,
      strategy    text COLLATE "C" NOT NULL,
      effect      text COLLATE "C" NOT NULL,
      query_hash  text COLLATE "C" NOT NULL,
      session_id  text COLLATE "C",
      used        text COLLATE "C" NOT NULL,
      after_event bigint NOT NULL,
      before      text COLLATE "C",
      PRIMARY KEY (space_id, sequence)
    );

    CREATE TABLE recall (
      space_id   uuid NOT NULL,
      sequence   bigint NOT NULL,
      at         bigint NOT NULL,
      strategy   text COLLATE "C" NOT NULL,
      session_id text COLLATE "C",
      query      text COLLATE "C",
      hits       text COLLATE "C" NOT NULL,
      details    text COLLATE "C" NOT NULL,
      redacted   boolean NOT NULL,
      PRIMARY KEY (space_id, sequence)
    );
    CREATE INDEX recall_at ON recall (space_id, at);

    -- The same both ways: the ends in the order of their code units.
    CREATE TABLE link (
      space_id uuid NOT NULL,
      a_id     text COLLATE "C" NOT NULL,
      b_id     text COLLATE "C" NOT NULL,
      kind     text COLLATE "C" NOT NULL,
      weight   double precision NOT NULL,
      at       bigint NOT NULL,
      PRIMARY KEY (space_id, a_id, b_id, kind)
    ) WITH (fillfactor = 85);
    CREATE INDEX link_other_end ON link (space_id, b_id);

    CREATE TABLE similar_pair (
      space_id   uuid NOT NULL,
      sequence   bigint NOT NULL,
      older_id   text COLLATE "C" NOT NULL,
      newer_id   text COLLATE "C" NOT NULL,
      kind       text COLLATE "C" NOT NULL,
      similarity double precision NOT NULL,
      at         bigint NOT NULL,
      attempts   bigint NOT NULL,
      resolution text COLLATE "C",
      ended_at   bigint,
      ended_by   bigint,
      dropped    boolean NOT NULL,
      PRIMARY KEY (space_id, sequence)
    );
    CREATE INDEX similar_pair_older ON similar_pair (space_id, older_id);
    CREATE INDEX similar_pair_newer ON similar_pair (space_id, newer_id);
    CREATE INDEX similar_pair_pending ON similar_pair (space_id, sequence) WHERE ended_at IS NULL;
    CREATE INDEX similar_pair_ended ON similar_pair (space_id, ended_by) WHERE ended_by IS NOT NULL;

    CREATE TABLE session (
      space_id   uuid NOT NULL,
      id         text COLLATE "C" NOT NULL,
      scope      text COLLATE "C" NOT NULL,
      started_at bigint NOT NULL,
      active_at  bigint NOT NULL,
      ended_at   bigint,
      PRIMARY KEY (space_id, id)
    );
    CREATE INDEX session_open ON session (space_id, started_at, id) WHERE ended_at IS NULL;

    -- hash: HMAC-SHA256 of scope and content with the space's own key, in hex.
    CREATE TABLE tombstone (
      space_id uuid NOT NULL,
      hash     text COLLATE "C" NOT NULL,
      at       bigint NOT NULL,
      reason   text COLLATE "C" NOT NULL,
      PRIMARY KEY (space_id, hash)
    );

    CREATE TABLE vote (
      space_id  uuid NOT NULL,
      memory_id text COLLATE "C" NOT NULL,
      voter     text COLLATE "C" NOT NULL,
      operation bigint NOT NULL,
      vote      bigint NOT NULL,
      PRIMARY KEY (space_id, memory_id, voter, operation)
    );
    CREATE INDEX vote_operation ON vote (space_id, operation);

    -- What follows from records, indexed; the rows of one memory are replaced together. Long texts are found by their hash.
    CREATE TABLE supersession (
      space_id uuid NOT NULL,
      key      bigint NOT NULL,
      older_id text COLLATE "C" NOT NULL
    );
    CREATE INDEX supersession_older ON supersession (space_id, older_id);
    CREATE INDEX supersession_key ON supersession (space_id, key);

    CREATE TABLE attribute (
      space_id uuid NOT NULL,
      key      bigint NOT NULL,
      name     text COLLATE "C" NOT NULL,
      value    text COLLATE "C" NOT NULL
    );
    CREATE INDEX attribute_value ON attribute (space_id, hashtextextended(name, 0), hashtextextended(value, 0));
    CREATE INDEX attribute_key ON attribute (space_id, key);

    CREATE TABLE entity_name (
      space_id uuid NOT NULL,
      key      bigint NOT NULL,
      name     text COLLATE "C" NOT NULL
    );
    CREATE INDEX entity_name_name ON entity_name (space_id, hashtextextended(name, 0));
    CREATE INDEX entity_name_key ON entity_name (space_id, key);

    CREATE TABLE relation (
      space_id    uuid NOT NULL,
      key         bigint NOT NULL,
      from_id     text COLLATE "C" NOT NULL,
      name        text COLLATE "C" NOT NULL,
      to_id       text COLLATE "C" NOT NULL,
      weight      double precision NOT NULL,
      confidence  double precision NOT NULL,
      valid_from  bigint,
      valid_until bigint
    );
    CREATE INDEX relation_from ON relation (space_id, from_id);
    CREATE INDEX relation_to ON relation (space_id, to_id);
    CREATE INDEX relation_key ON relation (space_id, key);
  `,
};
