import { useEffect, useRef, useState } from 'preact/hooks';

/** A value that components can subscribe to. */
export interface Cell<Value> {
  get(): Value;
  set(value: Value): void;
  subscribe(listener: () => void): () => void;
}

export function cell<Value>(initial: Value): Cell<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useCell<Value>(of: Cell<Value>): Value {
  const [, render] = useState(0);
  const value = of.get();
  const rendered = useRef(value);
  rendered.current = value;
  useEffect(() => {
    const follow = () => {
      if (!Object.is(rendered.current, of.get())) render((count) => count + 1);
    };
    // It may have changed after it was rendered and before this runs.
    follow();
    return of.subscribe(follow);
  }, [of]);
  return value;
}
