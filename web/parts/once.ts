import { useRef } from 'preact/hooks';

/** Work that a second press of the same button does not begin again while it is under way. */
export function useOnce<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<unknown>,
): (...given: Given) => Promise<void> {
  const busy = useRef(false);
  return async (...given) => {
    if (busy.current) return;
    busy.current = true;
    try {
      await work(...given);
    } finally {
      busy.current = false;
    }
  };
}
