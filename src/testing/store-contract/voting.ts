import { expect } from 'vitest';
import {
  type ContractTest,
  expectCode,
  insert,
  latestUndoable,
  onSpace,
  replace,
  start,
  write,
} from './harness.ts';

const vote = (voter: string, value: 1 | -1, id = 'a') =>
  ({ kind: 'vote', id, vote: { voter, vote: value } }) as const;

const ballot = { verb: 'feedback' } as const;

export const votingTests: readonly ContractTest[] = [
  onSpace('a voter has one vote on a memory, and the latest counts', async (space) => {
    await write(space, [insert({ id: 'a' }), insert({ id: 'b' })]);
    expect(await space.votes('a')).toEqual([]);
    await write(space, [replace({ id: 'a', usefulness: 0.6 }), vote('ann', 1)], ballot);
    await write(space, [replace({ id: 'a', usefulness: 0.5 }), vote('Zoë', -1)], ballot);
    await write(space, [replace({ id: 'b' }), vote('ann', 1, 'b')], ballot);
    await write(space, [replace({ id: 'a', usefulness: 0.25 }), vote('ann', -1)], ballot);
    expect(await space.votes('a')).toMatchObject([
      { voter: 'Zoë', vote: -1 },
      { voter: 'ann', vote: -1 },
    ]);
    expect(await space.votes('b')).toMatchObject([{ voter: 'ann', vote: 1 }]);
    expect((await space.get(['a']))[0]?.usefulness).toBe(0.25);
    await space.write({ ...ballot, at: start }, async (reader) => {
      expect(await reader.votes('b')).toHaveLength(1);
      return { changes: [], result: undefined };
    });
  }),

  onSpace('votes that are withdrawn give way to those before them', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    await write(space, [replace({ id: 'a' }), vote('ann', 1)], ballot);
    await write(space, [replace({ id: 'a' }), vote('ann', -1)], ballot);
    const { operation } = (await latestUndoable(space))[0]!;
    expect((await space.votes('a')).map((each) => each.operation)).toEqual([operation]);
    await write(space, [replace({ id: 'a' }), { kind: 'withdraw-votes', operation }], {
      verb: 'undo',
      undoes: operation,
    });
    expect(await space.votes('a')).toMatchObject([{ voter: 'ann', vote: 1 }]);
  }),

  onSpace('votes outlive a removal that is taken back, and not a redaction', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    await write(space, [replace({ id: 'a' }), vote('ann', 1)], ballot);
    await write(space, [{ kind: 'remove', id: 'a' }]);
    await write(space, [insert({ id: 'a' })]);
    expect(await space.votes('a')).toHaveLength(1);
    await write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' });
    await write(space, [insert({ id: 'a' })]);
    expect(await space.votes('a')).toEqual([]);
  }),

  onSpace('a vote in a write that fails is not cast', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    await expectCode(write(space, [vote('ann', 1), replace({ id: 'none' })], ballot), 'not_found');
    expect(await space.votes('a')).toEqual([]);
  }),

  onSpace('of a moment of the past: the votes that were cast by then', async (space) => {
    await write(space, [insert({ id: 'a' })]);
    await write(space, [replace({ id: 'a' }), vote('ann', 1)], { ...ballot, at: start + 10 });
    await write(space, [replace({ id: 'a' }), vote('ben', 1)], { ...ballot, at: start + 20 });
    const past = await space.asKnown(start + 15, async () => []);
    expect(await past.votes('a')).toMatchObject([{ voter: 'ann', vote: 1 }]);
    await past.close();
  }),
];
