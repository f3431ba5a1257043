/** A cache of limited size that evicts the values that were not used recently. */
export interface Recent<Value, Key = number> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  bytes(): number;
}

/**
 * Creates a cache of at most `most` bytes with two generations. A value that is used moves to the younger one. When the
 * younger one exceeds half of the bytes, it becomes the older one, and the previous older one is dropped.
 */
export function createRecent<Value, Key = number>(
  most: number,
  sizeOf: (value: Value, key: Key) => number,
): Recent<Value, Key> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  let youngBytes = 0;
  let oldBytes = 0;
  const set = (key: Key, value: Value) => {
    const size = sizeOf(value, key);
    if (size > most / 2 || young.has(key)) return;
    if (youngBytes + size > most / 2) {
      [old, oldBytes] = [young, youngBytes];
      [young, youngBytes] = [new Map(), 0];
    }
    young.set(key, value);
    youngBytes += size;
  };
  const remove = (from: Map<Key, Value>, key: Key) => {
    const value = from.get(key);
    if (value === undefined) return 0;
    from.delete(key);
    return sizeOf(value, key);
  };
  return {
    get(key) {
      const known = young.get(key);
      if (known !== undefined) return known;
      const older = old.get(key);
      if (older === undefined) return undefined;
      oldBytes -= remove(old, key);
      set(key, older);
      return older;
    },
    set,
    delete(key) {
      youngBytes -= remove(young, key);
      oldBytes -= remove(old, key);
    },
    clear() {
      young = new Map();
      old = new Map();
      youngBytes = 0;
      oldBytes = 0;
    },
    bytes: () => youngBytes + oldBytes,
  };
}
