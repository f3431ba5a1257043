import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SalienceError } from '../src/domain/errors.ts';
import type { MemoryEngine } from '../src/index.ts';
import { cell, useCell } from './cell.ts';
import { ENDED, SERVER, session, signOut } from './session.ts';

/** What a view has of a question: the latest answer, which stays while the next one is on its way. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined;
  readonly error: Error | undefined;
  /** A newer answer is on its way. */
  readonly pending: boolean;
  /** Asks again. */
  reload(): void;
}

type Question<Answer> = (memory: MemoryEngine, signal: AbortSignal) => Promise<Answer>;

/** Whether the server answers. While it does not, it is asked every two seconds whether it is back. */
export const reachable = cell(true);
/** Counts what was written here, and returns of the server: views that show memories ask again. */
const epoch = cell(0);

/**
 * Asks whenever `deps` change: the newest question wins, and the one before is aborted, on the server too. `undefined`
 * asks nothing.
 */
export function useAsk<Answer>(
  question: Question<Answer> | undefined,
  deps: readonly unknown[],
): Asked<Answer> {
  const [state, setState] = useState<Omit<Asked<Answer>, 'reload'>>({
    answer: undefined,
    error: undefined,
    pending: question !== undefined,
  });
  const [again, setAgain] = useState(0);
  const written = useCell(epoch);
  const latest = useRef(question);
  latest.current = question;
  // Before the frame is painted: what is asked a frame earlier is answered a frame earlier.
  useLayoutEffect(() => {
    const memory = session.get()?.memory;
    const asked = latest.current;
    if (!asked || !memory) {
      setState({ answer: undefined, error: undefined, pending: false });
      return undefined;
    }
    const controller = new AbortController();
    setState((before) => ({ ...before, pending: true }));
    asked(memory, controller.signal).then(
      (answer) => {
        if (controller.signal.aborted) return;
        reachable.set(true);
        setState({ answer, error: undefined, pending: false });
      },
      (error: Error) => {
        if (controller.signal.aborted) return;
        noteFailure(error);
        setState((before) => ({ answer: before.answer, error, pending: false }));
      },
    );
    return () => controller.abort();
  }, [...deps, again, written, question === undefined]);
  return { ...state, reload: () => setAgain((count) => count + 1) };
}

/** Does what changes something; what is shown is then asked for again. What is undone is so where it was done. */
export function act<Answer>(
  work: (memory: MemoryEngine) => Promise<Answer>,
  memory = session.get()?.memory,
): Promise<Answer> {
  return look(work, memory).finally(refresh);
}

/** Asks once, where nothing is shown in the meantime. */
export async function look<Answer>(
  work: (memory: MemoryEngine) => Promise<Answer>,
  memory = session.get()?.memory,
): Promise<Answer> {
  if (!memory) throw new Error('sign in first');
  try {
    return await work(memory);
  } catch (error) {
    noteFailure(error as Error);
    throw error;
  }
}

/** Changes whenever what is shown may be outdated. */
export function useEpoch(): number {
  return useCell(epoch);
}

/** Has every view ask again. */
export function refresh(): void {
  epoch.set(epoch.get() + 1);
}

export function codeOf(error: unknown): string | undefined {
  return SalienceError.isInstance(error) ? error.code : undefined;
}

/** Has the page say that a session has ended, or that the server is gone, and go on when it is back. */
export function noteFailure(error: Error): void {
  const failure = codeOf(error);
  if (failure === 'unauthorized') {
    signOut(ENDED);
  }
  if (isAway(error)) serverBack();
}

/**
 * Whether the server did not answer, or something else did for it, or it ends and says so to whoever waits. Any other fault
 * that it tells itself is no outage.
 */
function isAway(error: Error): boolean {
  if (!SalienceError.isInstance(error)) return false;
  const { code, cause, details } = error;
  return (
    code === 'closed' ||
    (code === 'server_failed' && (cause !== undefined || details['status'] !== undefined))
  );
}

let waiting: Promise<void> | undefined;

/** Until the server answers again, which the page says meanwhile; then every view asks again. */
export function serverBack(): Promise<void> {
  waiting ??= (async () => {
    reachable.set(false);
    do await new Promise((resolve) => setTimeout(resolve, 2000));
    while (!(await isUp()));
    waiting = undefined;
    reachable.set(true);
    refresh();
  })();
  return waiting;
}

function isUp(): Promise<boolean> {
  return fetch(`${SERVER}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
