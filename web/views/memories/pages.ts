import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ListOptions, Memory } from '../../../src/index.ts';
import { codeOf, noteFailure, useEpoch } from '../../api.ts';
import { session } from '../../session.ts';

const PAGE = 100;
/** How many pages are cached. The least recently visible ones are dropped first. */
const KEPT = 40;

export interface Rows {
  /** `undefined` if it is not known, also because the list was refused. */
  readonly total: number | undefined;
  /** Why rows in sight are missing. */
  readonly error: Error | undefined;
  /** Whether the rows still belong to the previous request. */
  readonly pending: boolean;
  rowAt(index: number): Memory | undefined;
  need(first: number, last: number): void;
}

/** Fetches a list page by page as it becomes visible. Requests for pages that are scrolled past are aborted. */
export function useRows(options: ListOptions): Rows {
  const asked = JSON.stringify(options);
  const epoch = useEpoch();
  const [, render] = useState(0);
  const state = useRef(empty());
  const latest = useRef(options);
  latest.current = options;
  /** The rows in sight. */
  const range = useRef<readonly [first: number, last: number]>([0, 0]);
  const need = useCallback((first: number, last: number) => {
    range.current = [first, last];
    const now = state.current;
    // The first page counts them all.
    const wanted = new Set<number>(now.pages.has(0) ? [] : [0]);
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page++) wanted.add(page);
    for (const [page, controller] of now.asking) {
      if (wanted.has(page)) continue;
      controller.abort();
      now.asking.delete(page);
    }
    const gone = [...now.failed.keys()].filter((page) => !wanted.has(page));
    for (const page of gone) now.failed.delete(page);
    if (gone.length > 0) render((count) => count + 1);
    for (const page of wanted) {
      const rows = now.pages.get(page);
      if (rows === undefined) continue;
      now.pages.delete(page);
      now.pages.set(page, rows);
    }
    for (const page of wanted) fetchPage(now, page, latest.current, () => render((count) => count + 1));
  }, []);
  useEffect(() => {
    const before = state.current;
    for (const controller of before.asking.values()) controller.abort();
    state.current = { ...empty(), total: before.total, old: before.pages };
    need(...range.current);
    render((count) => count + 1);
  }, [asked, epoch, need]);
  const { total, counted, failed, pages, old } = state.current;
  const [error] = failed.values();
  // While the server is unreachable or failing, the rows of the request before stay.
  const isRefused = !counted && error && !['server_failed', 'closed'].includes(codeOf(error) ?? '');
  return {
    total: isRefused ? undefined : total,
    error,
    pending: !counted && !error,
    need,
    rowAt: (index) => {
      const page = Math.floor(index / PAGE);
      // An old row stays until the new one at its position has arrived.
      return (pages.get(page) ?? old.get(page))?.[index % PAGE];
    },
  };
}

interface State {
  total: number | undefined;
  /** Whether `total` belongs to the current options. */
  counted: boolean;
  /** The errors of pages. */
  readonly failed: Map<number, Error>;
  readonly pages: Map<number, readonly Memory[]>;
  readonly old: ReadonlyMap<number, readonly Memory[]>;
  readonly asking: Map<number, AbortController>;
}

function empty(): State {
  return {
    total: undefined,
    counted: false,
    failed: new Map(),
    pages: new Map(),
    old: new Map(),
    asking: new Map(),
  };
}

function fetchPage(state: State, page: number, options: ListOptions, done: () => void): void {
  const memory = session.get()?.memory;
  if (!memory || state.pages.has(page) || state.asking.has(page)) return;
  const controller = new AbortController();
  state.asking.set(page, controller);
  const count = page === 0;
  memory.list({ ...options, limit: PAGE, offset: page * PAGE, count, signal: controller.signal }).then(
    ({ memories, total }) => {
      state.asking.delete(page);
      state.pages.set(page, memories);
      const [oldest] = state.pages.keys();
      if (state.pages.size > KEPT && oldest !== undefined) state.pages.delete(oldest);
      if (total !== undefined) {
        state.total = total;
        state.counted = true;
      }
      state.failed.delete(page);
      done();
    },
    (error: Error) => {
      state.asking.delete(page);
      if (controller.signal.aborted || codeOf(error) === 'aborted') return;
      state.failed.set(page, error);
      done();
      noteFailure(error);
    },
  );
}
