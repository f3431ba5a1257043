import { isLiteral, isPlain } from './options.ts';

/** Freezes an object and everything inside it. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

/** A frozen deep copy of plain objects and arrays. Other values, such as functions, are kept as they are. */
export function frozenCopy<Value>(value: Value): Value {
  if (Array.isArray(value)) return Object.freeze(value.map((each) => frozenCopy(each))) as Value;
  if (!isPlain(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, frozenCopy(each)]));
  return Object.freeze(Object.setPrototypeOf(copy, Object.getPrototypeOf(value)));
}

/** Deeper than any data that the engine accepts. */
const DEEPEST = 1000;

/**
 * Makes a deep copy of plain objects, arrays and dates, so that the caller may change the original. Nested objects with
 * methods or a class are not copied: their methods may depend on their identity.
 */
export function ownCopy<Data extends object>(data: Data): Data {
  const copies = new Map<object, unknown>();
  const copyOf = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
    if (value instanceof Date) return new Date(value);
    if (copies.has(value)) return copies.get(value);
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      copies.set(value, list);
      for (const each of value) list.push(copyOf(each, depth + 1));
      return list;
    }
    if (!isLiteral(value)) return value;
    const entries = Object.entries(value);
    if (depth > 0 && entries.some(([, each]) => typeof each === 'function')) return value;
    const copy = Object.create(Object.getPrototypeOf(value));
    copies.set(value, copy);
    // Defined, not assigned: a field may be named `__proto__`.
    for (const [name, each] of entries) {
      Object.defineProperty(copy, name, {
        value: copyOf(each, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  };
  return copyOf(data, 0) as Data;
}
