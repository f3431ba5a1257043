import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScript } from '../../../test/processes/start-script.ts';
import { parseMetadataFilter } from '../../domain/metadata-condition.ts';
import { atOnce } from '../../domain/slices.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { placesOfParts } from '../../search/pages.ts';
import { createResidence } from '../../search/residence.ts';
import type { SpaceStore } from '../../store/store.ts';
import { indexContent } from '../../testing/index-content.ts';
import { scaledRuns } from '../../testing/runs.ts';
import { searchIn } from '../../testing/store-contract/harness.ts';
import { type Connection, longReadTransaction } from './connection.ts';
import { indexRows } from './feed.ts';
import { dropPages, loadPages } from './pages.ts';
import { createObservedSqliteStore } from './store.ts';

const seed = 20_260_401;
const rounds = Math.max(10, scaledRuns(20));
/** Times as many rounds, until enough of the deaths interrupted a write. */
const MOST = 10;

/** Mulberry32, by Tommy Ettinger, public domain: enough to spread the moments of death. */
function random(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const refreshed = (connection: Connection) => createResidence('alice').refresh(indexRows(() => connection));

/** The index from the saved pages and the log after them, against one that is built from the rows alone. */
async function expectIndexEqualsRebuild([writer, reader]: [Connection, Connection]): Promise<void> {
  const { index } = await longReadTransaction(reader, () => refreshed(reader));
  writer.database.exec('BEGIN IMMEDIATE');
  atOnce(dropPages(writer));
  const { index: rebuilt } = await refreshed(writer);
  writer.database.exec('ROLLBACK');
  expect(indexContent(index)).toEqual(indexContent(rebuilt));
  expect([index.memoryCount, index.totalLength, index.vectors]).toEqual([
    rebuilt.memoryCount,
    rebuilt.totalLength,
    rebuilt.vectors,
  ]);
}

/** What belongs to the batches beside their memories: all of it of those that were written, nothing of others. */
async function expectBelief(space: SpaceStore, written: number): Promise<void> {
  expect((await space.session('s'))?.activeAt).toBe(written === 0 ? undefined : written);
  expect(await space.pendingPairs(100_000)).toHaveLength(written);
  const batches = [written - 1, written, written + 1].filter((batch) => batch > 0);
  const tombstones = await space.tombstones(
    batches.map((batch) => ({ scope: 'global', content: `gone ${batch}` })),
  );
  expect(tombstones.map((each) => each?.at)).toEqual(
    batches.map((batch) => (batch <= written ? batch : undefined)),
  );
  for (const batch of batches) {
    const newer = await space.find('supersedes', [`${batch}-0`]);
    expect(newer.map(({ id }) => id)).toEqual(batch < written ? [`${batch + 1}-0`] : []);
    const filter = { metadata: parseMetadataFilter({ batch }), deep: true };
    const profile = resolveProfile(builtinProfile('bm25'));
    const { hits } = await searchIn(space, {
      profile,
      query: { terms: ['word'] },
      filter,
      now: 0,
      limit: 100,
    });
    expect(hits).toHaveLength(batch <= written ? 10 : 0);
  }
}

test(`killed at least ${rounds} times in the middle of writing: every acknowledged write is there, whole`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-crash-'));
  const next = random(seed);
  let acknowledged = 0;
  let begun = 0;
  let interrupted = 0;
  let fromPages = 0;
  /** Otherwise the moments were badly chosen, and the test has shown nothing. */
  const hasShown = () => interrupted > rounds / 6 && fromPages > rounds / 6;
  // The moments depend on the machine: a busy one needs more of them.
  for (let round = 0; round < rounds || (round < MOST * rounds && !hasShown()); round++) {
    const writer = startScript('crash-writer.mjs', directory);
    // Dies a moment after a line of its choosing: before the write, in it, in the commit, or between two writes.
    let remaining = 1 + Math.floor(next() * 12);
    for await (const line of writer.lines) {
      const [what, batch] = line.split(' ');
      if (what === 'done') acknowledged = Number(batch);
      else begun = Number(batch);
      remaining -= 1;
      if (remaining === 0) setTimeout(() => writer.child.kill('SIGKILL'), next() * 6);
    }
    const { signal, errors } = await writer.ended;
    expect(errors).toBe('');
    expect(signal).toBe('SIGKILL');
    if (begun > acknowledged) interrupted += 1;

    const connections: Connection[] = [];
    await using store = createObservedSqliteStore({ directory }, (each) => connections.push(each));
    const space = await store.openSpace('alice');
    expect(await space.check()).toEqual([]);
    await expectIndexEqualsRebuild(connections as [Connection, Connection]);
    if (
      await loadPages(connections[1] as Connection)?.load(
        () => {},
        placesOfParts().place,
        () => true,
      )
    )
      fromPages += 1;
    const [counter] = await space.get(['counter']);
    const written = counter?.accessCount ?? 0;
    expect(written).toBeGreaterThanOrEqual(acknowledged);
    expect(written).toBeLessThanOrEqual(begun);
    const { memories } = await space.list({ filter: {}, limit: 100_000 });
    const expected = ['counter'];
    for (let batch = 1; batch <= written; batch++) {
      for (let index = 0; index < 10; index++) expected.push(`${batch}-${index}`);
    }
    expect(memories.map((memory) => memory.id).toSorted()).toEqual(expected.toSorted());
    expect(await space.info()).toMatchObject({
      events: written * 11,
      sequence: written * 11,
      vectors: written * 10 + (written === 1 ? 1 : 0),
    });
    const profile = resolveProfile(builtinProfile('bm25'));
    const found = await searchIn(space, {
      profile,
      query: { terms: ['word'] },
      filter: {},
      now: 0,
      limit: 100_000,
    });
    // The first of each batch takes the place of that of the one before.
    expect(found.hits).toHaveLength(written * 10 - Math.max(0, written - 1));
    await expectBelief(space, written);
    acknowledged = written;
    begun = written;
  }
  expect(acknowledged).toBeGreaterThan(rounds);
  expect(hasShown()).toBe(true);
  await rm(directory, { recursive: true, force: true });
});
