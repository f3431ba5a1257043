/** The listeners of a signal, and the one event listener that calls them. */
interface Told {
  readonly listeners: Set<() => void>;
  readonly tellAll: () => void;
}

const told = new WeakMap<AbortSignal, Told>();

/**
 * Calls `listener` when `signal` aborts. Returns a function that removes it. All calls for a signal share one event
 * listener, because Node.js warns of a leak if a signal has more than ten.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, tellAll } = told.get(signal) ?? listening(signal);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || told.get(signal)?.listeners !== listeners) return;
    told.delete(signal);
    signal.removeEventListener('abort', tellAll);
  };
}

function listening(signal: AbortSignal): Told {
  const listeners = new Set<() => void>();
  const tellAll = () => {
    for (const each of listeners) each();
  };
  const made = { listeners, tellAll };
  told.set(signal, made);
  signal.addEventListener('abort', tellAll, { once: true });
  return made;
}
