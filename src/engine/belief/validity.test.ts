import { describe, expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import { expectCode } from '../../testing/store-contract/harness.ts';

const plain = { embedder: 'none' } as const;

describe('a time to live', () => {
  test('ends the validity of plans and transient states, and the life of everything else', async () => {
    const { memory } = await live(plain);
    const week = '2026-01-08T00:00:00.000Z';
    for (const [type, ttl, field, end] of [
      ['plan', '7d', 'validUntil', week],
      ['transient_state', 'P7D', 'validUntil', week],
      ['fact', '24h', 'expiresAt', '2026-01-02T00:00:00.000Z'],
      ['preference', '2026-01-08', 'expiresAt', week],
      ['other', new Date(week), 'expiresAt', week],
    ] as const) {
      const { id } = await memory.remember(`A ${type}`, { type, ttl });
      const remembered = await memory.get(id);
      expect([remembered?.validUntil, remembered?.expiresAt], type).toEqual(
        field === 'validUntil' ? [end, undefined] : [undefined, end],
      );
    }
  });

  test('is refused beside the end that it sets, when it is over, or no time; nothing is written', async () => {
    const { memory } = await live(plain);
    for (const options of [
      { ttl: '7d', expiresAt: '2027-01-01' },
      { ttl: '7d', validUntil: '2027-01-01', type: 'plan' },
      { ttl: '0d' },
      { ttl: 'soon' },
      { ttl: '2025-01-01' },
    ]) {
      await expectCode(memory.remember('x', options), 'invalid_argument');
    }
    expect(await memory.stats()).toMatchObject({ memories: 0, events: 0 });
    expect((await memory.remember('x', { ttl: '7d', validUntil: '2027-01-01' })).outcome).toBe('created');
  });

  test('of a topic that is said again counts from then', async () => {
    const { memory, pass } = await live(plain);
    await memory.remember('Anna is in Rome', { id: 'a', topicKey: 'where', ttl: '7d' });
    pass(5);
    await memory.remember('Anna is in Oslo', { topicKey: 'where', ttl: '7d' });
    expect((await memory.get('a'))?.expiresAt).toBe('2026-01-13T00:00:00.000Z');
  });
});

describe('what was invalidated', () => {
  const statement = 'The meeting is on Monday';

  test('stays stored, is not recalled, says why, and is recalled again once reinstated', async () => {
    const { memory, clock } = await live(plain);
    await memory.remember(statement, { id: 'a' });
    const invalid = await memory.invalidate('a', 'it was moved');
    const since = new Date(clock.now()).toISOString();
    expect(invalid).toMatchObject({
      invalidatedAt: since,
      invalidReason: 'it was moved',
      content: statement,
    });
    expect((await memory.recall('meeting')).hits).toEqual([]);
    expect((await memory.recall('meeting', { deep: true, includeExpired: true })).hits).toEqual([]);
    expect((await memory.list()).memories).toHaveLength(1);
    expect((await memory.whyNot('a', { query: 'meeting' })).outcome).toBe('excluded');
    const reinstated = await memory.reinstate('a');
    expect([reinstated.invalidatedAt, reinstated.invalidReason]).toEqual([undefined, undefined]);
    expect((await memory.recall('meeting')).hits).toHaveLength(1);
    for (const wrong of ['', '  ', 'x'.repeat(1001)]) {
      await expectCode(memory.invalidate('a', wrong), 'invalid_argument');
    }
    await expectCode(memory.invalidate('x', 'why'), 'not_found');
    await expectCode(memory.reinstate('x'), 'not_found');
  });

  test('stays invalidated when it is stated again, alone or in a batch, whatever its topic, until it is reinstated', async () => {
    const { memory } = await live(plain);
    await memory.remember(statement, { id: 'a' });
    await memory.invalidate('a', 'it was moved');
    const inactive = { since: '2026-01-01T00:00:00.000Z', reason: 'it was moved' };
    expect(await memory.remember(statement)).toEqual({ id: 'a', outcome: 'deduplicated', inactive });
    const [first, second] = await memory.rememberMany([
      { content: statement, type: 'event', id: 'b' },
      { content: 'Bring a pen' },
    ]);
    expect(first).toMatchObject({ id: 'b', outcome: 'created', inactive });
    expect(second?.inactive).toBeUndefined();
    await memory.remember('The meeting is on Tuesday', { id: 't', topicKey: 'meeting' });
    expect(await memory.remember(statement, { topicKey: 'meeting' })).toMatchObject({ id: 'a', inactive });
    expect((await memory.get('t'))?.content).toBe('The meeting is on Tuesday');
    // Elsewhere it may hold.
    expect((await memory.remember(statement, { scope: 'project:a' })).inactive).toBeUndefined();
    await memory.reinstate('a');
    expect(await memory.remember(statement)).toMatchObject({ id: 'a', outcome: 'deduplicated' });
    expect((await memory.remember(statement, { type: 'feedback' })).inactive).toBeUndefined();
  });

  test('stays invalidated after the memory was forgotten; only a hash is kept then', async () => {
    const { memory } = await live(plain);
    await memory.remember(statement, { id: 'a' });
    await memory.invalidate('a', 'it was moved');
    await memory.forget('a');
    const again = await memory.remember(statement, { id: 'b' });
    expect(again).toMatchObject({ id: 'b', outcome: 'created', inactive: { reason: 'no reason was given' } });
    expect((await memory.recall('meeting')).hits).toEqual([]);
    await memory.reinstate('b');
    expect((await memory.recall('meeting')).hits).toHaveLength(1);
    await memory.forget('b');
    expect((await memory.remember(statement)).inactive).toBeUndefined();
  });

  test('is reinstated once: if nothing changes, nothing is written that could be undone', async () => {
    const { memory } = await live(plain);
    const { id } = await memory.remember(statement);
    await memory.update(id, { title: 'Meeting' });
    const before = await memory.get(id);
    expect(await memory.reinstate(id)).toEqual(before);
    expect((await memory.history(id)).map(({ verb }) => verb)).toEqual(['remember', 'update']);
    await memory.undo();
    expect((await memory.get(id))?.title).toBeUndefined();
    // Another memory of the same statement is not invalidated, but what is left of the statement goes.
    await memory.remember(statement, { type: 'event', id: 'other' });
    await memory.invalidate(id, 'it was moved');
    await memory.reinstate('other');
    expect((await memory.remember(statement, { type: 'feedback' })).inactive).toBeUndefined();
  });

  test('undo reverts invalidate and reinstate, with their tombstones', async () => {
    const { memory, pass } = await live(plain);
    await memory.remember(statement, { id: 'a' });
    const says = async () => {
      const { inactive, id } = await memory.remember(statement, { type: 'event' });
      if (id !== 'a') await memory.undo();
      return inactive?.reason;
    };
    await memory.invalidate('a', 'first');
    pass(1);
    await memory.invalidate('a', 'second');
    expect(await says()).toBe('second');
    await memory.undo();
    expect((await memory.get('a'))?.invalidReason).toBe('first');
    expect(await says()).toBe('first');
    await memory.reinstate('a');
    expect(await says()).toBeUndefined();
    await memory.undo();
    expect(await says()).toBe('first');
    await memory.undo();
    expect(await says()).toBeUndefined();
    expect((await memory.get('a'))?.invalidatedAt).toBeUndefined();
  });

  test('stays invalidated after undo if another memory of the same statement is invalidated too', async () => {
    const { memory, pass } = await live(plain);
    await memory.rememberMany([
      { content: statement, id: 'a' },
      { content: statement, id: 'b', type: 'event' },
      { content: statement, id: 'c', scope: 'project:x' },
    ]);
    const says = async () => {
      const { inactive } = await memory.remember(statement, { type: 'feedback' });
      await memory.undo();
      return inactive?.reason;
    };
    await memory.invalidate('c', 'not in this project');
    await memory.invalidate('a', 'it was moved');
    pass(1);
    await memory.invalidate('b', 'it was moved again');
    expect(await says()).toBe('it was moved again');
    await memory.undo();
    expect(await says()).toBe('it was moved');
    await memory.undo();
    expect(await says()).toBeUndefined();
  });

  test('releases what it superseded, and contradicts nothing', async () => {
    const { memory } = await live();
    await memory.remember('Anna flies to Lisbon on Monday morning', { id: 'old' });
    const { conflicts } = await memory.remember('Anna flies to Lisbon on Tuesday morning', { id: 'new' });
    expect(conflicts).toHaveLength(1);
    await memory.invalidate('new', 'wrong');
    const again = await memory.remember('Anna flies to Lisbon on Tuesday morning', { type: 'event' });
    expect(again.inactive).toBeDefined();
    expect([again.conflicts, again.unchecked]).toEqual([undefined, undefined]);
  });
});
