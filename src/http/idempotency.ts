import { createHash } from 'node:crypto';
import { SalienceError } from '../domain/errors.ts';
import type { Clock, Instant } from '../domain/time.ts';
import { isInDoubt, notingWrites } from '../domain/written.ts';

/** An answer that can be given again. */
export interface KeptAnswer {
  /** Which space of its name it is of: one that was deleted and made anew is another. */
  readonly origin?: string | undefined;
  /** The number of the last write before it: what was erased then was erased before it. */
  readonly after?: number | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotencyKeys {
  /**
   * Does the work once for a key: whoever comes with the same key and the same request gets the same answer, also
   * while the work is under way. Throws `idempotency_conflict` for the same key with another request, and `redacted` for
   * an answer that must not be given again: it is erased, and the work not done again. What failed and wrote nothing is not
   * kept, and may be tried again; of what failed after it had written, later requests are told so with `already_exists`.
   */
  once(
    key: string,
    request: string,
    work: () => Promise<KeptAnswer>,
    isForgotten?: (answer: KeptAnswer) => Promise<boolean>,
  ): Promise<{ readonly answer: KeptAnswer; readonly replayed: boolean }>;
}

export interface IdempotencyLimits {
  /** Milliseconds for which an answer is kept. */
  readonly keptFor: number;
  /** Bytes of answers that are kept; the oldest go first. */
  readonly bytes: number;
}

interface Entry {
  readonly request: string;
  /** `undefined` once it was erased; rejects where there is none, though it was written. */
  answer: Promise<KeptAnswer | undefined>;
  /** Of a finished answer. */
  size: number;
  readonly until: Instant;
}

/** What an entry takes beside its answer. */
const OVERHEAD = 500;

export function createIdempotencyKeys(limits: IdempotencyLimits, clock: Clock): IdempotencyKeys {
  // In the order in which they were made, which is the order in which they end.
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const drop = (key: string, entry: Entry) => {
    if (entries.get(key) !== entry) return;
    entries.delete(key);
    bytes -= entry.size;
  };
  const tidy = () => {
    const now = clock();
    for (const [key, entry] of entries) {
      // What is under way has no size yet, and must stay: a second request would do the work again.
      if (entry.size === 0) continue;
      if (entry.until > now && bytes <= limits.bytes) break;
      drop(key, entry);
    }
  };
  return {
    async once(key, request, work, isForgotten = async () => false) {
      tidy();
      const fingerprint = createHash('sha256').update(request).digest('hex');
      for (;;) {
        const known = entries.get(key);
        if (!known) break;
        if (known.request !== fingerprint) throw otherRequest();
        try {
          return { answer: await again(known, isForgotten), replayed: true };
        } catch (error) {
          // Whoever asked first is gone, and nothing was written: a client that lost its connection asks again. What is in
          // doubt stays, and would be found here again without end.
          if (!SalienceError.isInstance(error) || error.code !== 'aborted' || isInDoubt(error)) throw error;
        }
      }
      const written = { isWritten: false };
      const answering = notingWrites(written, work);
      const entry: Entry = {
        request: fingerprint,
        answer: answering,
        size: 0,
        until: clock() + limits.keptFor,
      };
      entries.set(key, entry);
      try {
        const answer = await answering;
        if (answer.status >= 300) drop(key, entry);
        else {
          entry.size = answer.body.length + OVERHEAD;
          bytes += entry.size;
        }
        return { answer, replayed: false };
      } catch (error) {
        if (written.isWritten || isInDoubt(error)) {
          entry.answer = Promise.reject(written.isWritten ? answerLost() : error);
          entry.answer.catch(() => undefined);
          entry.size = OVERHEAD;
          bytes += entry.size;
        } else drop(key, entry);
        throw error;
      }
    },
  };
}

async function again(
  entry: Entry,
  isForgotten: (answer: KeptAnswer) => Promise<boolean>,
): Promise<KeptAnswer> {
  const answer = await entry.answer;
  if (answer && !(await isForgotten(answer))) return answer;
  entry.answer = Promise.resolve(undefined);
  throw erasedAnswer();
}

export function otherRequest(): SalienceError {
  return new SalienceError(
    'idempotency_conflict',
    'this idempotency key was used for another request; make a new key for every new request',
  );
}

export function answerLost(): SalienceError {
  return new SalienceError(
    'already_exists',
    'the request was committed, but the server failed or stopped before it answered, or is still finishing it; read the data, and do not send the request with a new key',
    { details: { inDoubt: false } },
  );
}

export function erasedAnswer(): SalienceError {
  return new SalienceError(
    'redacted',
    'this request was committed; its answer was erased, because a memory in it has been forgotten',
  );
}
