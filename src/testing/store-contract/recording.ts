import { expect } from 'vitest';
import type { Keep, NewRecording } from '../../store/recording.ts';
import type { SpaceStore } from '../../store/store.ts';
import {
  type ContractTest,
  everything,
  expectCode,
  getOne,
  insert,
  onSpace,
  replace,
  start,
  use,
  write,
} from './harness.ts';

const all: Keep = { since: 0, most: 1000, texts: true };

function recording(fields: Partial<NewRecording> = {}): NewRecording {
  return {
    at: start,
    strategy: 'hybrid',
    sessionId: undefined,
    query: 'green tea',
    hits: [
      { id: 'a', score: 0.1 + 0.2 },
      { id: 'b', score: 2 ** -40 },
    ],
    details: { options: { limit: 3, mustInclude: ['c'] }, queryHash: 'hash', terms: 2, now: start },
    ...fields,
  };
}

const sequences = async (space: SpaceStore, request = {}) =>
  (await space.recordings({ limit: 100, ...request })).map(({ sequence }) => sequence);

export const recordingTests: readonly ContractTest[] = [
  onSpace(
    'a recording is read as it was written, newest first, and is no write of the space',
    async (space) => {
      await write(space, [insert({ id: 'a' })]);
      const before = await everything(space);
      expect(await space.record(recording(), all)).toBe(1);
      const second = recording({
        query: undefined,
        sessionId: 's',
        strategy: 'bm25',
        at: start + 5,
        hits: [],
      });
      expect(await space.record(second, all)).toBe(2);
      expect(await space.recordings({ limit: 10 })).toEqual([
        { ...second, sequence: 2, redacted: false },
        { ...recording(), sequence: 1, redacted: false },
      ]);
      expect(await everything(space)).toEqual(before);
    },
  ),
  onSpace('what is read is what meets all that is asked for', async (space) => {
    for (const [at, strategy, sessionId] of [
      [1, 'hybrid', 's'],
      [2, 'bm25', 's'],
      [3, 'hybrid', 't'],
    ] as const) {
      await space.record(recording({ at: start + at, strategy, sessionId }), all);
    }
    expect(await sequences(space)).toEqual([3, 2, 1]);
    expect(await sequences(space, { limit: 2 })).toEqual([3, 2]);
    expect(await sequences(space, { before: 3 })).toEqual([2, 1]);
    expect(await sequences(space, { sequence: 2 })).toEqual([2]);
    expect(await sequences(space, { sequence: 4 })).toEqual([]);
    expect(await sequences(space, { since: start + 2 })).toEqual([3, 2]);
    expect(await sequences(space, { strategy: 'hybrid' })).toEqual([3, 1]);
    expect(await sequences(space, { sessionId: 's', strategy: 'hybrid' })).toEqual([1]);
  }),
  onSpace(
    'recordings beyond the age or number to keep are deleted, and no sequence is reused',
    async (space) => {
      for (const at of [1, 2, 3, 4]) await space.record(recording({ at: start + at }), all);
      await space.record(recording({ at: start + 5 }), { ...all, since: start + 2 });
      expect(await sequences(space)).toEqual([5, 4, 3, 2]);
      await space.record(recording({ at: start + 6 }), { ...all, most: 2 });
      expect(await sequences(space)).toEqual([6, 5]);
      expect(await space.record(undefined, { ...all, since: start + 6 })).toBe(6);
      expect(await sequences(space)).toEqual([6]);
      expect(await space.record(undefined, { since: 0, most: 0, texts: false })).toBe(6);
      expect(await sequences(space)).toEqual([]);
      expect(await space.record(recording(), all)).toBe(7);
    },
  ),
  onSpace('the texts of queries can be deleted alone', async (space) => {
    await space.record(recording(), all);
    await space.record(undefined, { ...all, texts: false });
    expect(await space.recordings({ limit: 1 })).toEqual([
      { ...recording({ query: undefined }), sequence: 1, redacted: false },
    ]);
  }),
  onSpace(
    'forgetting a memory takes it out, with what was asked wherever it was returned or named',
    async (space) => {
      await write(space, [insert({ id: 'a' }), insert({ id: 'b' }), insert({ id: 'c' })]);
      const other = recording({
        hits: [{ id: 'b', score: 1 }],
        details: { options: { limit: 1 }, queryHash: 'h' },
      });
      await space.record(recording(), all);
      await space.record(other, all);
      await space.record(recording({ hits: [] }), all);
      await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
      const [third, second, first] = await space.recordings({ limit: 3 });
      expect(third).toEqual({ ...recording({ hits: [] }), sequence: 3, redacted: false });
      expect(second).toEqual({ ...other, sequence: 2, redacted: false });
      expect(first).toEqual({
        ...recording({ query: undefined, hits: [{ id: 'b', score: 2 ** -40 }] }),
        details: { options: {}, now: start },
        sequence: 1,
        redacted: true,
      });
      await write(space, [{ kind: 'redact', id: 'c' }], { verb: 'forget' });
      expect((await space.recordings({ limit: 3 })).map(({ redacted }) => redacted)).toEqual([
        true,
        false,
        true,
      ]);
    },
  ),
  {
    title: 'nothing is recorded where nothing may be written, and nothing of one space in another',
    async run({ store }) {
      const space = await store.openSpace('alice');
      await space.record(recording(), all);
      const other = await store.openSpace('bob');
      expect(await sequences(other)).toEqual([]);
      const reader = await store.openSpace('alice', { readOnly: true });
      expect(await sequences(reader)).toEqual([1]);
      await expectCode(reader.record(recording(), all), 'store_read_only');
      await expectCode(reader.record(undefined, all), 'store_read_only');
    },
  },
  onSpace('a place in the logs leads back exactly, whatever the clock said', async (space) => {
    expect(await space.place()).toEqual({ sequence: 0, usage: 0, pair: 0, waiting: 0 });
    const empty = { ...(await space.place()), at: start };
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    await use(space, ['a'], () => ({ accessCount: 1 }));
    const pair = { older: 'a', newer: 'b', kind: 'similar', similarity: 0.9 } as const;
    await write(space, [{ kind: 'queue-pair', pair }]);
    const place = { ...(await space.place()), at: start };
    expect(place).toEqual({ sequence: 2, usage: 1, pair: 1, waiting: 1, at: start });
    // Everything happens at the same instant.
    await use(space, ['a'], () => ({ accessCount: 2 }));
    await write(space, [
      replace({ id: 'a', content: 'new' }),
      insert({ id: 'c' }),
      { kind: 'settle-pair', sequence: 1, resolution: 'keep-both' },
    ]);
    await write(space, [{ kind: 'queue-pair', pair: { ...pair, newer: 'c' } }]);
    const derive = async (memories: readonly unknown[]) =>
      memories.map(() => ({ terms: new Map<string, number>(), vector: undefined }));
    const past = await space.asKnown({ place }, derive);
    expect(await past.place()).toMatchObject({ sequence: 2, usage: 1, waiting: 1 });
    expect(await getOne(past, 'a')).toMatchObject({ content: 'content of a', accessCount: 1 });
    expect(await getOne(past, 'c')).toBeUndefined();
    await expectCode(past.record(recording(), all), 'store_read_only');
    // The earlier of the two counts; before everything there was nothing.
    const both = await space.asKnown({ at: start, place }, derive);
    expect(await getOne(both, 'c')).toBeUndefined();
    await expectCode(space.asKnown({ at: start - 1, place }, derive), 'invalid_argument');
    const nothing = await space.asKnown({ place: empty }, derive);
    expect((await nothing.list({ filter: {}, limit: 10 })).memories).toEqual([]);
  }),
];
