import { isPlain } from './options.ts';

/** Plain data that nobody can change any more, and neither what it holds. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

/** A copy of plain data that nobody can change. What is no plain data in it stays what it is. */
export function frozenCopy<Value>(value: Value): Value {
  if (Array.isArray(value)) return Object.freeze(value.map((each) => frozenCopy(each))) as Value;
  if (!isPlain(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, frozenCopy(each)]));
  return Object.freeze(Object.setPrototypeOf(copy, Object.getPrototypeOf(value)));
}
