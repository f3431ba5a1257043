import { randomBytes } from 'node:crypto';
import { throwIfAborted } from '../../domain/errors.ts';
import { onAbort } from '../../domain/on-abort.ts';
import { signalOfCaller } from '../../store/cancelling.ts';
import type { PostgresPool } from './connection.ts';
import { isCancelled } from './faults.ts';

/** Milliseconds before the second attempt to cancel. At the first one, the statement may not have reached the server yet. */
const FIRST_WAIT = 20;
const LONGEST_WAIT = 1000;

const ours = randomBytes(6).toString('hex');
let statements = 0;

/**
 * Sends a statement on behalf of the present caller. If the caller aborts, asks the server over another connection to cancel it. The
 * statement begins with a comment that identifies it, which also works through a pooler. With `leaves`, an abort rejects at once.
 * Without it, the answer is awaited, to know whether the statement was executed. Throws `aborted`, and the driver's own errors.
 */
export async function cancelling<Answer>(
  spare: () => Promise<PostgresPool>,
  text: string,
  leaves: boolean,
  send: (text: string) => Promise<Answer>,
): Promise<Answer> {
  const signal = signalOfCaller();
  if (!signal) return send(text);
  throwIfAborted(signal);
  const tag = `/*salience:${ours}:${++statements}*/`;
  let hasEnded = false;
  const answer = send(`${tag} ${text}`).finally(() => {
    hasEnded = true;
  });
  let forget = () => {};
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => {
      void cancelUntil(spare, tag, () => hasEnded);
      if (leaves) reject(signal.reason);
    });
  });
  try {
    return await Promise.race([answer, aborted]);
  } catch (error) {
    if (!hasEnded || isCancelled(error)) throwIfAborted(signal);
    throw error;
  } finally {
    forget();
    // After an abort, nobody handles a late rejection.
    answer.catch(() => undefined);
  }
}

async function cancelUntil(
  spare: () => Promise<PostgresPool>,
  tag: string,
  hasEnded: () => boolean,
): Promise<void> {
  for (let wait = FIRST_WAIT; !hasEnded(); wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      const pool = await spare();
      await pool.query({
        text: `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
          WHERE query LIKE $1 AND state = 'active' AND pid <> pg_backend_pid()`,
        values: [`${tag}%`],
        rowMode: 'array',
      });
    } catch {
      // The statement ends by itself, or with its connection.
    }
    await new Promise((resolve) => setTimeout(resolve, wait).unref());
  }
}
