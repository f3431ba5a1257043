import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileIn, tablesIn } from '../../../test/store/stored.ts';
import { openMemory } from '../../open.ts';
import { createFakeClock } from '../../testing/fake-clock.ts';
import type { MemoryEngine } from '../memory-engine.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-effects-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const day = 86_400_000;

/** What the one file holds. */
const dump = () => tablesIn(fileIn(directory));

/** A space with faded, expired, joinable and similar memories, links, uses and a queue of pairs. */
async function livedIn(): Promise<{ memory: MemoryEngine; pass: (days: number) => void }> {
  const clock = createFakeClock();
  const memory = await openMemory({
    fading: 'retention',
    path: directory,
    space: 'default',
    clock: () => clock.now(),
  });
  const pass = (days: number) => clock.advance(days * day);
  const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
  await memory.rememberMany([
    ...weekdays.map((weekday, at) => ({
      id: `run${at}`,
      content: `Went for a long run along the river on ${weekday}`,
      type: 'event',
      importance: 0,
      sessionId: 's',
    })),
    { id: 'roast', content: 'Prefers dark roast coffee' },
    { id: 'grinder', content: 'Owns a coffee grinder' },
    { id: 'heron', content: 'Saw a heron by the old bridge', type: 'event', importance: 0 },
    { id: 'wifi', content: 'The wifi password is swordfish', expiresAt: '2026-01-03' },
  ]);
  await memory.link('roast', 'run0', { weight: 0.9 });
  await memory.recall('coffee', { strategy: 'retention', sessionId: 's' });
  await memory.maintain();
  await memory.rememberMany([
    { content: 'Went for a long run along the river on Saturday', type: 'event' },
    { content: 'Prefers dark roast coffee, always' },
  ]);
  return { memory, pass };
}

test('a recall without effects, explain, whyNot and compare leave every table as it was, byte by byte', async () => {
  const { memory, pass } = await livedIn();
  pass(30);
  const before = await dump();
  // What the rest relies on: there is something to change.
  for (const table of ['memory', 'link', 'usage', 'similar_pair', 'event']) {
    expect(before[table]?.length, table).toBeGreaterThan(0);
  }
  for (const strategy of ['retention', 'five-factor', 'hybrid', 'balanced'] as const) {
    for (const more of [{}, { deep: true, includeExpired: true }, { association: 'propagated' as const }]) {
      const { hits } = await memory.recall('coffee', { strategy, track: false, sessionId: 't', ...more });
      expect(hits.length).toBeGreaterThan(0);
    }
    await memory.explain('roast', { query: 'coffee', strategy });
    await memory.whyNot('run1', { query: 'coffee', strategy, limit: 1 });
  }
  const { rankings } = await memory.compare('coffee', { deep: true });
  expect(rankings.find(({ strategy }) => strategy === 'retention')?.hits?.length).toBeGreaterThan(0);
  await memory.conflicts();
  await memory.links('roast');
  expect(await dump()).toEqual(before);
  // And the same recall with its effects is seen here: the dump can tell.
  await memory.recall('coffee', { strategy: 'retention' });
  expect(await dump()).not.toEqual(before);
  await memory.close();
});

test('a dry run of maintenance that would change everything changes nothing', async () => {
  const { memory, pass } = await livedIn();
  pass(60);
  const before = await dump();
  const dry = await memory.maintain({ dryRun: true, consolidate: true });
  expect(dry.cooled.length).toBeGreaterThan(0);
  expect(dry.expired).toEqual(['wifi']);
  expect(dry.consolidated.length).toBeGreaterThan(0);
  expect(dry.compared).toBe(2);
  expect(dry.similarPairs.length).toBeGreaterThan(0);
  expect(await dump()).toEqual(before);
  await memory.maintain();
  expect(await dump()).not.toEqual(before);
  await memory.close();
});
