import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SalienceError } from '../src/domain/errors.ts';
import type { MemoryEngine } from '../src/index.ts';
import { cell, useCell } from './cell.ts';
import { ENDED, SERVER, session, signOut } from './session.ts';

/** The state of a request in a view. The latest answer stays while the next one is pending. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined;
  readonly error: Error | undefined;
  /** A newer answer is on its way. */
  readonly pending: boolean;
  /** Asks again. */
  reload(): void;
}

type Question<Answer> = (memory: MemoryEngine, signal: AbortSignal) => Promise<Answer>;

/** Whether the server answers. While it does not, the page polls it every two seconds. */
export const reachable = cell(true);
/** Counts writes from this page and recoveries of the server. Views that show memories fetch again when it changes. */
const epoch = cell(0);

/**
 * Sends a request whenever `deps` change. The newest request wins; the one before is aborted, on the server too.
 * `undefined` sends none.
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
  // A layout effect runs before the frame is painted, so that the answer comes one frame earlier.
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

/** Runs a write with `memory`. Views then fetch again. An undo must pass the client that the write itself used. */
export function act<Answer>(
  work: (memory: MemoryEngine) => Promise<Answer>,
  memory = session.get()?.memory,
): Promise<Answer> {
  return look(work, memory).finally(refresh);
}

/** Sends one request, for callers that show nothing in the meantime. */
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

/** Returns a number that changes whenever the data on the page may be outdated. */
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

/** Handles an error that ends the session, or one that means the server is unreachable. */
export function noteFailure(error: Error): void {
  const failure = codeOf(error);
  if (failure === 'unauthorized') {
    signOut(ENDED);
  }
  if (isAway(error)) serverBack();
}

/**
 * Whether the server did not answer, a proxy answered for it, or it reported its shutdown. Any other error that the
 * server reports itself is no outage.
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

/** Waits until the server answers again. The page says so meanwhile, and every view fetches again afterwards. */
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
