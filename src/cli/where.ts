import { InvalidArgumentError } from 'commander';
import type { MetadataFilter } from '../index.ts';
import { isNumeric, readValue } from './options.ts';

const bounds = { '>': 'above', '>=': 'atLeast', '<': 'below', '<=': 'atMost' } as const;

type Test = MetadataFilter[string];

/**
 * Collects conditions on metadata: `key=value`, `key>=3` and the other comparisons, or only a `key` for any value.
 * Values are read as in `--metadata`. Several values of one key mean any of them; several bounds mean all of them.
 */
export function collectWhere(condition: string, previous: MetadataFilter | undefined): MetadataFilter {
  const [, key, operator, text] = /^([^=<>]+)(?:(>=|<=|=|>|<)(.*))?$/s.exec(condition) ?? [];
  if (key === undefined) throw new InvalidArgumentError('Write key=value, key>=number, or a key.');
  const test = operator === undefined ? { exists: true } : testOf(operator, text as string);
  const entries = Object.entries(previous ?? {});
  const known = entries.find(([each]) => each === key)?.[1];
  // Built from entries, so that __proto__ is a name like any other.
  return Object.fromEntries([...entries, [key, known === undefined ? test : both(key, known, test)]]);
}

function testOf(operator: string, text: string): Test {
  const value = readValue(text);
  if (operator === '=') return [value];
  if (typeof value === 'boolean')
    throw new InvalidArgumentError('Only numbers and texts are above or below others.');
  // A text would be compared only with texts, so no number would match.
  if (typeof value === 'string' && isNumeric(text)) {
    throw new InvalidArgumentError(
      `Write ${operator}${Number(text)} for a number, or ${operator}"${text}" with the quotes for a text.`,
    );
  }
  return { [bounds[operator as keyof typeof bounds]]: value };
}

function both(key: string, a: Test, b: Test): Test {
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  if (isBounds(a) && isBounds(b) && !Object.keys(a).some((name) => Object.hasOwn(b, name))) {
    return { ...a, ...b };
  }
  throw new InvalidArgumentError(`Give ${key} values, or bounds that differ, or itself alone.`);
}

function isBounds(test: Test): test is Exclude<Test, readonly unknown[] | string | number | boolean | null> {
  return typeof test === 'object' && test !== null && !Array.isArray(test) && !('exists' in test);
}
