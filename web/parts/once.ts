import { useRef, useState } from 'preact/hooks';

/** How long work takes before it is shown as busy, so that quick answers do not flicker. */
const MOMENT_MS = 200;

/**
 * Wraps work so that a second press does not start it again while it is running. Also returns the arguments of work
 * that takes longer than `MOMENT_MS`, so that its `BusyButton` shows it.
 */
export function useOnce<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<unknown>,
): readonly [run: (...given: Given) => Promise<void>, underWay: Given | undefined] {
  const busy = useRef(false);
  const [underWay, setUnderWay] = useState<Given>();
  const run = async (...given: Given) => {
    if (busy.current) return;
    busy.current = true;
    const late = setTimeout(() => setUnderWay(given), MOMENT_MS);
    try {
      await work(...given);
    } finally {
      clearTimeout(late);
      busy.current = false;
      setUnderWay(undefined);
    }
  };
  return [run, underWay];
}
