import { createHash } from 'node:crypto';
import { SalienceError } from '../domain/errors.ts';
import type { Clock, Instant } from '../domain/time.ts';
import { isInDoubt, notingWrites } from '../domain/written.ts';

/** An answer that is stored for repeated requests. */
export interface KeptAnswer {
  /** Identifies the space. A space that was deleted and created again under the same name has another origin. */
  readonly origin?: string | undefined;
  /** The number of the last write before the work. Erasures up to it happened before the answer. */
  readonly after?: number | undefined;
  /** The position of activity after the work. A space that was restored from an older backup does not have it. */
  readonly position?: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotencyKeys {
  /**
   * Does the work once per key. A request with the same key and content gets the same answer, also while the work is in
   * progress. Throws `idempotency_conflict` if the content differs, and `redacted` if the answer was erased because a
   * memory in it was forgotten; the work is not repeated. A failure that wrote nothing is not stored and can be
   * retried. After a failure that had written something, later requests get `already_exists`.
   */
  once(
    key: string,
    request: string,
    work: () => Promise<KeptAnswer>,
    isForgotten?: (answer: KeptAnswer) => Promise<boolean>,
  ): Promise<{ readonly answer: KeptAnswer; readonly replayed: boolean }>;
}

export interface IdempotencyLimits {
  /** How long an answer is stored, in milliseconds. */
  readonly keptFor: number;
  /** Most bytes of stored answers. The oldest are dropped first. */
  readonly bytes: number;
}

interface Entry {
  readonly request: string;
  /** Resolves to `undefined` once the answer was erased. Rejects if the work was done but has no answer. */
  answer: Promise<KeptAnswer | undefined>;
  /** Bytes of a finished answer; 0 while the work is in progress. */
  size: number;
  readonly until: Instant;
}

/** Bytes that an entry takes besides its answer. */
const OVERHEAD = 500;

export function createIdempotencyKeys(limits: IdempotencyLimits, clock: Clock): IdempotencyKeys {
  // In order of creation, which is also the order of expiry.
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
      // An entry in progress has size 0 and must stay, or a second request would repeat the work.
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
          // The first client disconnected and nothing was written, so this request does the work. Errors that are in
          // doubt stay stored; retrying them here would never end.
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
    'this request was committed; its answer was erased, because a memory in it has been forgotten, or the space was deleted or restored since; read the data before you send the request with a new key',
  );
}
