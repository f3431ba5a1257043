import { isPlain } from './options.ts';

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
