import { describe, expect, it } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import type { SharedTexts } from '../store-kit.ts';
import { sharedInMemory } from '../stores/sqlite/shared.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import type { KeptAnswer } from './idempotency.ts';
import { createSharedIdempotencyKeys } from './shared-idempotency.ts';

const day = 86_400_000;

/** Two servers over one store, and what they did. */
function twoServers(texts: SharedTexts = sharedInMemory()) {
  const clock = createFakeClock();
  const done: string[] = [];
  let looks = 0;
  const server = () =>
    createSharedIdempotencyKeys(
      texts,
      () => clock.now(),
      async () => {
        looks++;
        await new Promise((resolve) => setImmediate(resolve));
      },
    );
  const work =
    (body: string, status = 201) =>
    async (): Promise<KeptAnswer> => {
      done.push(body);
      return { status, headers: { etag: body }, body };
    };
  return { texts, clock, done, work, servers: [server(), server()] as const, looks: () => looks };
}

describe('createSharedIdempotencyKeys', () => {
  it('does the work of a key once, whichever server is asked again', async () => {
    const { servers, work, done, clock } = twoServers();
    const [one, two] = servers;
    const first = await one.once('k', 'POST a', work('x'));
    expect(first).toEqual({ answer: { status: 201, headers: { etag: 'x' }, body: 'x' }, replayed: false });
    clock.advance(day - 1000);
    expect(await two.once('k', 'POST a', work('y'))).toEqual({ ...first, replayed: true });
    await expect(two.once('k', 'POST b', work('y'))).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(done).toEqual(['x']);
    clock.advance(2 * day);
    await one.once('k', 'POST b', work('z'));
    expect(done).toEqual(['x', 'z']);
  });

  it('lets many that come at once, at both, wait for one', async () => {
    const { servers, work, done } = twoServers();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? servers[0] : servers[1]).once('k', 'a', work(`${at}`))),
    );
    expect(done).toHaveLength(1);
    expect(new Set(answers.map(({ answer }) => answer.body)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  it('keeps nothing of what failed', async () => {
    const { servers, work, done } = twoServers();
    const [one, two] = servers;
    await expect(one.once('k', 'a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await two.once('k', 'a', work('refused', 409));
    expect((await one.once('k', 'a', work('x'))).replayed).toBe(false);
    expect(done).toEqual(['refused', 'x']);
  });

  it('never does it again when a server ended while it was at it', async () => {
    const { servers, work, done, looks } = twoServers();
    const [one, two] = servers;
    void one.once('k', 'a', () => new Promise(() => {}));
    await expect(two.once('k', 'a', work('x'))).rejects.toMatchObject({
      code: 'store_busy',
      details: { inDoubt: true },
    });
    expect(done).toEqual([]);
    expect(looks()).toBeGreaterThan(10);
  });

  it('never does it again when it is unknown whether it was written, though nothing is written yet', async () => {
    const { servers, work, done } = twoServers();
    const lost = new SalienceError('store_failed', 'the connection was lost', { details: { inDoubt: true } });
    await expect(servers[0].once('k', 'a', () => Promise.reject(lost))).rejects.toBe(lost);
    for (const server of servers) {
      await expect(server.once('k', 'a', work('x'))).rejects.toMatchObject({
        code: 'store_busy',
        details: { inDoubt: true },
      });
    }
    expect(done).toEqual([]);
  });

  it('leaves no text in the store, and erases an answer whose memory was forgotten', async () => {
    const { servers, work, texts } = twoServers();
    const [one, two] = servers;
    await one.once('secret key', 'a secret request', work('a secret answer'));
    const kept = await Promise.all((await texts.ids('answer')).map((id) => texts.get('answer', id)));
    expect(kept.join()).not.toContain('secret');
    expect(kept.join()).not.toContain(Buffer.from('a secret answer').toString('base64').slice(0, 12));
    const again = () => two.once('secret key', 'a secret request', work('y'), async () => true);
    await expect(again()).rejects.toMatchObject({ code: 'redacted' });
    await expect(one.once('secret key', 'a secret request', work('y'))).rejects.toMatchObject({
      code: 'redacted',
    });
  });

  it('removes what is older than two days', async () => {
    const { servers, work, clock, texts } = twoServers();
    for (let at = 0; at < 5; at++) {
      await servers[at % 2 ? 0 : 1].once(`k${at}`, 'a', work('x'));
      clock.advance(day);
    }
    await servers[0].once('last', 'a', work('x'));
    await servers[1].once('last', 'a', work('x'));
    expect((await texts.ids('answer')).length).toBeLessThanOrEqual(2);
  });
});
