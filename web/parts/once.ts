import { useRef, useState } from 'preact/hooks';

/** A quick answer comes sooner: nothing flickers. */
const MOMENT_MS = 200;

/**
 * Work that a second press does not begin again while it is under way, and what it was given while it takes longer than a
 * moment: its `BusyButton` shows that.
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
