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
/**
 * The kind of the entries that record on which day a key was claimed. They make it possible to find old keys without
 * reading them.
 */
const DAYS = 'answer-day';
const DAY = 86_400_000;

/** Milliseconds between checks whether another server has answered, and in total. */
const LOOK_EVERY = 100;
const LOOK_FOR = 20_000;

/** Attempts to store an answer, with pauses that double: six seconds in all. */
const MOST_ATTEMPTS = 7;

/**
 * What is stored for a key. While the request is in progress there is no `answer`; after an erasure there is none any
 * more.
 */
interface Entry {
  readonly request: string;
  /** The day of the claim, by the clock of the server that made it. */
  readonly day: number;
  /** The id of the attempt in progress, until it has written something. */
  readonly claim?: string | undefined;
  readonly answer?: string | undefined;
  /** Set within the write itself: the request has written something. */
  readonly written?: true | undefined;
  readonly erased?: true | undefined;
}

/**
 * Idempotency keys that several servers share through one store. A server claims a key before it does the work, so that
 * two servers never both do it, even if their clocks show different days. If a server stops during the work, others
 * cannot tell this from slow work, and the key stays claimed. An answer is stored for one to two days, encrypted with its
 * key, so that no table keeps the text of a forgotten memory.
 */
export function createSharedIdempotencyKeys(
  shared: SharedTexts,
  clock: Clock,
  pause: (milliseconds: number) => Promise<unknown> = wait,
): IdempotencyKeys {
  const underWay = new Map<string, Promise<unknown>>();
  /** Claims that could not be released because the store was unavailable, with the ids of their keys. */
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
      // The request that held the key failed, so this one may do the work.
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
  /** Claims a key. Returns the claim, or `undefined` if the key is claimed already. */
  const claim = async (id: string, entry: Entry): Promise<string | undefined> => {
    const mine = randomBytes(8).toString('hex');
    await shared.put(DAYS, `${entry.day}:${id}`, '');
    try {
      await shared.add(KIND, id, JSON.stringify({ ...entry, claim: mine } satisfies Entry));
      return mine;
    } catch (error) {
      if (SalienceError.isInstance(error) && error.code === 'already_exists') return undefined;
      // The claim may have been stored although the response was lost.
      const found = await read(id).catch(() => undefined);
      if (found?.claim === mine) return mine;
      left.set(mine, id);
      throw error;
    }
  };
  /** Releases a key if nothing was written for it. Returns false if the store failed; the next request tries again. */
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
  /**
   * Stores an answer. Returns false instead of throwing, because the work is done and must not be reported as failed.
   */
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
      // Requests with the same key in one process wait for each other and need not poll.
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
          // A key stays claimed if something was, or may have been, written: otherwise it could be written twice. A
          // write that is in doubt may still arrive after a read that finds nothing.
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

/** Encrypts an answer with its key. The result is nonce, tag and ciphertext in base64. */
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
