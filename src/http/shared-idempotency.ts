import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { SalienceError } from '../domain/errors.ts';
import type { Clock } from '../domain/time.ts';
import { isInDoubt, notingWrites } from '../domain/written.ts';
import type { SharedTexts } from '../store-kit.ts';
import {
  answerLost,
  erasedAnswer,
  type IdempotencyKeys,
  type KeptAnswer,
  otherRequest,
} from './idempotency.ts';

const KIND = 'answer';
/** The days on which keys were claimed, so that old ones are known without being read. */
const DAYS = 'answer-day';
const DAY = 86_400_000;

/** How often, and for how many milliseconds, one server looks whether another has answered. */
const LOOK_EVERY = 100;
const LOOK_FOR = 20_000;

/** How often an answer is tried to be kept, with pauses that double: six seconds. */
const MOST_ATTEMPTS = 7;

/** What stands for a key: of a request that is under way there is no answer yet, of one that was erased none any more. */
interface Entry {
  readonly request: string;
  /** On which it was claimed, by the clock of whoever did. */
  readonly day: number;
  /** Of the attempt that is under way, until it has written something. */
  readonly claim?: string | undefined;
  readonly answer?: string | undefined;
  /** Something was written for it: put down by the write itself. */
  readonly written?: true | undefined;
  readonly erased?: true | undefined;
}

/**
 * Idempotency keys of several servers over one store. A server claims a key before it does the work: two of them never do
 * it both, also when one ends in between, which then nobody can tell from one that is still at it, or when it is another day
 * by the clock of the other. An answer is kept for a day or two, and can be read only with the key that it was asked with: what a
 * memory says stays in no table after it was forgotten.
 */
export function createSharedIdempotencyKeys(
  shared: SharedTexts,
  clock: Clock,
  pause: (milliseconds: number) => Promise<unknown> = wait,
): IdempotencyKeys {
  const underWay = new Map<string, Promise<unknown>>();
  /** Ids by the claims that ended without a write while the store was away, so that they may still stand there. */
  const left = new Map<string, string>();
  let tidied = 0;
  const dayOf = (ago = 0) => Math.floor(clock() / DAY) - ago;
  const tidy = async () => {
    if (tidied === dayOf()) return;
    tidied = dayOf();
    for (const claimed of await shared.ids(DAYS)) {
      const [day, id = ''] = claimed.split(':');
      if (Number(day) >= dayOf(1)) continue;
      // The key may have been claimed again since.
      const entry = await read(id);
      if (entry && entry.day < dayOf(1)) await shared.remove(KIND, id);
      await shared.remove(DAYS, claimed);
    }
  };
  const read = async (id: string) => {
    const text = await shared.get(KIND, id);
    return text === undefined ? undefined : (JSON.parse(text) as Entry);
  };
  const again = async (
    id: string,
    key: string,
    fingerprint: string,
    isForgotten: (answer: KeptAnswer) => Promise<boolean>,
  ): Promise<KeptAnswer | undefined> => {
    for (let waited = 0; ; waited += LOOK_EVERY) {
      const entry = await read(id);
      // Whoever had it failed: it may be done now.
      if (!entry) return undefined;
      if (entry.request !== fingerprint) throw otherRequest();
      if (entry.erased) throw erasedAnswer();
      if (entry.answer !== undefined) {
        const answer = opened(entry.answer, key);
        if (!(await isForgotten(answer))) return answer;
        await shared.put(
          KIND,
          id,
          JSON.stringify({ request: fingerprint, day: entry.day, erased: true } satisfies Entry),
        );
        throw erasedAnswer();
      }
      if (waited >= LOOK_FOR) throw entry.written ? answerLost() : stillUnderWay();
      await pause(LOOK_EVERY);
    }
  };
  /** The claim that was made; `undefined` where another one stands. */
  const claim = async (id: string, entry: Entry): Promise<string | undefined> => {
    const mine = randomBytes(8).toString('hex');
    await shared.put(DAYS, `${entry.day}:${id}`, '');
    try {
      await shared.add(KIND, id, JSON.stringify({ ...entry, claim: mine } satisfies Entry));
      return mine;
    } catch (error) {
      if (SalienceError.isInstance(error) && error.code === 'already_exists') return undefined;
      // It may have been made, though the response was lost.
      const found = await read(id).catch(() => undefined);
      if (found?.claim === mine) return mine;
      left.set(mine, id);
      throw error;
    }
  };
  /** Gives a key up, if nothing was written for it. Whether that could be done: if not, the next request tries it again. */
  const release = async (id: string, mine: string): Promise<boolean> => {
    try {
      if ((await read(id))?.claim === mine) await shared.remove(KIND, id);
      return true;
    } catch {
      left.set(mine, id);
      return false;
    }
  };
  const releaseLeft = async () => {
    for (const [mine, id] of [...left]) if (left.delete(mine) && !(await release(id, mine))) return;
  };
  /** Whether the answer is kept. The work is done: that its answer cannot be kept is no reason to say that it failed. */
  const keep = async (id: string, entry: Entry): Promise<boolean> => {
    for (let attempt = 1; ; attempt++) {
      try {
        await shared.put(KIND, id, JSON.stringify(entry));
        return true;
      } catch {
        if (attempt === MOST_ATTEMPTS) return false;
        await pause(LOOK_EVERY * 2 ** (attempt - 1));
      }
    }
  };
  return {
    async once(key, request, work, isForgotten = async () => false) {
      await tidy();
      const fingerprint = hashOf(request);
      const id = hashOf(`name ${key}`);
      // In one process the next one need not look: it waits for the one before.
      while (underWay.has(id)) await underWay.get(id)?.catch(() => {});
      const answering = (async () => {
        await releaseLeft();
        const entry: Entry = { request: fingerprint, day: dayOf() };
        let mine = await claim(id, entry);
        while (mine === undefined) {
          const answer = await again(id, key, fingerprint, isForgotten);
          if (answer) return { answer, replayed: true };
          mine = await claim(id, entry);
        }
        let answer: KeptAnswer;
        const written = { isWritten: false };
        try {
          const done = JSON.stringify({ ...entry, written: true } satisfies Entry);
          answer = await notingWrites(written, () =>
            shared.along ? shared.along(KIND, id, done, work) : work(),
          );
        } catch (error) {
          // What may have been written stays claimed, whatever failed afterwards: else it would be written twice. What is in
          // doubt may be written after a look that finds nothing.
          if (!written.isWritten && !isInDoubt(error)) await release(id, mine);
          throw error;
        }
        const isKept = answer.status < 300 && (await keep(id, { ...entry, answer: sealed(answer, key) }));
        if (!isKept && !written.isWritten) await release(id, mine);
        return { answer, replayed: false };
      })();
      underWay.set(id, answering);
      try {
        return await answering;
      } finally {
        underWay.delete(id);
      }
    },
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function cipherKey(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'salience idempotency', 32));
}

/** An answer that only its key opens: nonce, tag and text in base64. */
function sealed(answer: KeptAnswer, key: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', cipherKey(key), nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(answer), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
}

function opened(text: string, key: string): KeptAnswer {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', cipherKey(key), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  const plain = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
  return JSON.parse(plain.toString('utf8')) as KeptAnswer;
}

function stillUnderWay(): SalienceError {
  return new SalienceError(
    'store_busy',
    'another server is still processing this request, or stopped while it was, and it is unknown whether it was committed; try again with the same key, and read the data before you use a new one',
    { details: { inDoubt: true } },
  );
}
