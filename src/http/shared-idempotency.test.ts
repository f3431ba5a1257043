import { describe, expect, it } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { noteWritten } from '../domain/written.ts';
import type { SharedTexts } from '../store-kit.ts';
import { sharedInMemory } from '../stores/sqlite/shared.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import type { KeptAnswer } from './idempotency.ts';
import { createSharedIdempotencyKeys } from './shared-idempotency.ts';

const day = 86_400_000;

/** Creates two servers over one store; `done` lists the work that was done. */
function twoServers(texts: SharedTexts = sharedInMemory()) {
  const clock = createFakeClock();
  /** The offset of each clock. */
  const ahead = [0, 0];
  const done: string[] = [];
  const pauses: number[] = [];
  const server = (at: 0 | 1) =>
    createSharedIdempotencyKeys(
      texts,
      () => clock.now() + (ahead[at] ?? 0),
      async (milliseconds) => {
        pauses.push(milliseconds);
        await new Promise((resolve) => setImmediate(resolve));
      },
    );
  const work =
    (body: string, status = 201) =>
    async (): Promise<KeptAnswer> => {
      done.push(body);
      return { status, headers: { etag: body }, body };
    };
  return { texts, clock, ahead, done, work, servers: [server(0), server(1)] as const, pauses };
}

type Call = 'get' | 'add' | 'put' | 'remove';

const away = new SalienceError('store_failed', 'the database is away');

/** Wraps a store so that calls about answers can fail, before or after they are done. */
function failing(fails: (call: Call, isDone: boolean) => boolean): SharedTexts {
  const texts = sharedInMemory();
  const through =
    <Given extends readonly [string, ...unknown[]], Result>(
      call: Call,
      run: (...given: Given) => Promise<Result>,
    ) =>
    async (...given: Given) => {
      const isOfAnswer = given[0] === 'answer';
      if (isOfAnswer && fails(call, false)) throw away;
      const result = await run(...given);
      if (isOfAnswer && fails(call, true)) throw away;
      return result;
    };
  return {
    get: through('get', texts.get),
    add: through('add', texts.add),
    put: through('put', texts.put),
    remove: through('remove', texts.remove),
    ids: texts.ids,
  };
}

describe('createSharedIdempotencyKeys', () => {
  it('does the work of a key once, whichever server gets the second request', async () => {
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

  it.each([1000, -1000, day])('does it once if one clock is %i ms ahead, past midnight', async (by) => {
    const { servers, work, done, clock, ahead } = twoServers();
    clock.advance(day - (clock.now() % day) - 500);
    ahead[0] = by;
    for (const key of ['k', 'l']) for (const server of servers) await server.once(key, 'a', work(key));
    await Promise.all(servers.map((server) => server.once('at once', 'a', work('at once'))));
    expect(done).toEqual(['k', 'l', 'at once']);
    clock.advance(2000);
    for (const server of servers) await server.once('k', 'a', work('again'));
    expect(done).toHaveLength(3);
  });

  it('keeps a key that was claimed again when its first claim expires', async () => {
    const { servers, work, done, clock } = twoServers();
    const [one, two] = servers;
    await one.once('k', 'a', work('refused', 409));
    clock.advance(day);
    await one.once('k', 'a', work('x'));
    clock.advance(day);
    expect(await two.once('k', 'a', work('y'))).toMatchObject({ answer: { body: 'x' }, replayed: true });
    expect(done).toEqual(['refused', 'x']);
  });

  it('lets concurrent requests on both servers wait for one', async () => {
    const { servers, work, done } = twoServers();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? servers[0] : servers[1]).once('k', 'a', work(`${at}`))),
    );
    expect(done).toHaveLength(1);
    expect(new Set(answers.map(({ answer }) => answer.body)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  it('stores nothing after a failure', async () => {
    const { servers, work, done } = twoServers();
    const [one, two] = servers;
    await expect(one.once('k', 'a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await two.once('k', 'a', work('refused', 409));
    expect((await one.once('k', 'a', work('x'))).replayed).toBe(false);
    expect(done).toEqual(['refused', 'x']);
  });

  it('never repeats the work if a server stopped during it', async () => {
    const { servers, work, done, pauses } = twoServers();
    const [one, two] = servers;
    void one.once('k', 'a', () => new Promise(() => {}));
    await expect(two.once('k', 'a', work('x'))).rejects.toMatchObject({
      code: 'store_busy',
      details: { inDoubt: true },
    });
    expect(done).toEqual([]);
    expect(pauses.length).toBeGreaterThan(10);
  });

  it('never repeats the work if it is unknown whether it was written, even if nothing is written yet', async () => {
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

  it('never repeats the work if it failed after writing, with a store that does not record this', async () => {
    const { servers, work, done } = twoServers();
    const fail = async () => {
      noteWritten();
      throw new Error('no');
    };
    await expect(servers[0].once('k', 'a', fail)).rejects.toThrow('no');
    for (const server of servers) {
      await expect(server.once('k', 'a', work('x'))).rejects.toMatchObject({ code: 'store_busy' });
    }
    expect(done).toEqual([]);
  });

  it('claims a key that another server released while it waited', async () => {
    const { servers, work, done } = twoServers();
    const [one, two] = servers;
    const first = one.once('k', 'a', () => new Promise((_, reject) => setImmediate(reject, new Error('no'))));
    const doing = two.once('k', 'a', async () => {
      // While it is being done here, no other server may do it.
      await expect(one.once('k', 'a', work('y'))).rejects.toMatchObject({ code: 'store_busy' });
      return work('x')();
    });
    await expect(first).rejects.toThrow('no');
    expect(await doing).toMatchObject({ answer: { body: 'x' }, replayed: false });
    expect(done).toEqual(['x']);
  });

  it.each([
    ['get', 'itself'],
    ['remove', 'itself'],
    ['get', 'another server'],
    ['remove', 'another server'],
  ] as const)(
    'gives a key up later that it could not at once: %s failed, and the next is %s',
    async (call, next) => {
      const broken = new Set<Call>();
      const { servers, work, done } = twoServers(failing((each, isDone) => !isDone && broken.has(each)));
      const [one, two] = servers;
      const lost = new Error('nothing was read');
      const failed = one.once('k', 'a', async () => {
        broken.add(call);
        throw lost;
      });
      await expect(failed).rejects.toBe(lost);
      await one.once('meanwhile', 'a', work('meanwhile')).catch(() => {});
      broken.clear();
      if (next === 'another server') await one.once('other', 'a', work('other'));
      const server = next === 'itself' ? one : two;
      expect((await server.once('k', 'a', work('x'))).replayed).toBe(false);
      expect((await server.once('k', 'a', work('y'))).answer.body).toBe('x');
      expect(done.filter((each) => each.length === 1)).toEqual(['x']);
    },
  );

  it.each([true, false])(
    'has a key whose claim was made, though the store failed then; it can be read: %s',
    async (isRead) => {
      let isAway = true;
      let isLost = false;
      const { servers, work, done } = twoServers(
        failing((call, isDone) => {
          isLost ||= call === 'add' && isDone;
          return isAway && isLost && (call === 'add' || !isRead);
        }),
      );
      const [one, two] = servers;
      const first = one.once('k', 'a', work('x'));
      if (!isRead) await expect(first).rejects.toBe(away);
      else expect((await first).replayed).toBe(false);
      isAway = false;
      expect((await one.once('k', 'a', work('y'))).replayed).toBe(isRead);
      expect((await two.once('k', 'a', work('z'))).replayed).toBe(true);
      expect(done).toEqual([isRead ? 'x' : 'y']);
    },
  );

  it('does not take the claim of another server for its own', async () => {
    let isAway = false;
    const { servers, work, done } = twoServers(
      failing((call, isDone) => isAway && call === 'add' && !isDone),
    );
    const [one, two] = servers;
    let finish = () => {};
    const begun = new Promise<void>((begins) => {
      void two.once('k', 'a', async () => {
        begins();
        await new Promise<void>((resolve) => (finish = resolve));
        return work('x')();
      });
    });
    await begun;
    isAway = true;
    await expect(one.once('k', 'a', work('y'))).rejects.toBe(away);
    isAway = false;
    await expect(one.once('k', 'a', work('y'))).rejects.toMatchObject({ code: 'store_busy' });
    finish();
    expect((await one.once('k', 'a', work('y'))).answer.body).toBe('x');
    expect(done).toEqual(['x']);
  });

  it('retries for a while to store an answer', async () => {
    let times = 3;
    const { servers, work, pauses } = twoServers(
      failing((call, isDone) => call === 'put' && !isDone && times-- > 0),
    );
    const [one, two] = servers;
    const first = await one.once('k', 'a', work('x'));
    expect(pauses).toEqual([100, 200, 400]);
    expect(await two.once('k', 'a', work('y'))).toEqual({ ...first, replayed: true });
  });

  it('returns an answer that it cannot store, and does not repeat work that was written', async () => {
    const { servers, work, pauses } = twoServers(failing((call) => call === 'put'));
    const [one, two] = servers;
    for (const body of ['x', 'y']) {
      expect(await one.once('read', 'a', work(body))).toMatchObject({ answer: { body }, replayed: false });
    }
    expect(pauses.length).toBeLessThan(20);
    const write = async () => {
      noteWritten();
      return work('written')();
    };
    expect(await one.once('write', 'a', write)).toMatchObject({ answer: { body: 'written' } });
    await expect(two.once('write', 'a', write)).rejects.toMatchObject({ details: { inDoubt: true } });
  });

  it('stores no readable text, and erases an answer whose memory was forgotten', async () => {
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

  it('removes entries older than two days', async () => {
    const { servers, work, clock, texts } = twoServers();
    for (let at = 0; at < 5; at++) {
      await servers[at % 2 ? 0 : 1].once(`k${at}`, 'a', work('x'));
      clock.advance(day);
    }
    await servers[0].once('last', 'a', work('x'));
    await servers[1].once('last', 'a', work('x'));
    for (const kind of ['answer', 'answer-day'])
      expect((await texts.ids(kind)).length).toBeLessThanOrEqual(2);
  });
});
