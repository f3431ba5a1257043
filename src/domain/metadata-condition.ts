import { invalidArgument, propertyName } from './check.ts';
import type { JsonValue, Metadata } from './memory.ts';
import { isPlain, onlyKeys } from './options.ts';

/** A value with which a metadata property can be compared. */
export type MetadataScalar = string | number | boolean | null;

/** One condition on one top-level property of a memory's metadata. */
export interface MetadataCondition {
  readonly key: string;
  readonly test: MetadataTest;
}

/** Values are compared only with values of the same type: `1` is not `"1"`. Strings are ordered by code unit. */
export type MetadataTest =
  | { readonly in: readonly MetadataScalar[] }
  | { readonly exists: boolean }
  | {
      readonly above?: string | number | undefined;
      readonly atLeast?: string | number | undefined;
      readonly below?: string | number | undefined;
      readonly atMost?: string | number | undefined;
    };

/** Conditions as callers write them: for each property a value, a list of values, or a test. */
export type MetadataFilter = Readonly<
  Record<string, MetadataScalar | readonly MetadataScalar[] | MetadataTest>
>;

const BOUNDS = ['above', 'atLeast', 'below', 'atMost'] as const;

/** Parses a metadata filter. Throws `invalid_argument` naming the property. */
export function parseMetadataFilter(filter: MetadataFilter): readonly MetadataCondition[] {
  if (!isPlain(filter)) {
    throw invalidArgument('metadata', 'expected an object, with a value or a test for each property');
  }
  return Object.entries(filter).map(([key, said]) => ({
    key: propertyName(key, 'metadata'),
    test: parseTest(said, `metadata.${key}`),
  }));
}

function parseTest(said: MetadataFilter[string], field: string): MetadataTest {
  if (isScalar(said)) return { in: [said] };
  if (Array.isArray(said)) {
    if (!said.every(isScalar))
      throw invalidArgument(field, 'expected a list of strings, numbers, booleans or null');
    return { in: said };
  }
  onlyKeys(said, ['in', 'exists', ...BOUNDS], field);
  const test = said as Readonly<Record<string, unknown>>;
  const names = Object.keys(test).filter((name) => test[name] !== undefined);
  if (names.length === 1 && names[0] === 'in')
    return parseTest(test['in'] as readonly MetadataScalar[], field);
  if (names.length === 1 && names[0] === 'exists' && typeof test['exists'] === 'boolean') {
    return { exists: test['exists'] };
  }
  const kinds = new Set(names.map((name) => typeof test[name]));
  const ordered =
    names.length > 0 && kinds.size === 1 && (kinds.has('string') || isFiniteNumbers(test, names));
  if (!ordered || names.some((name) => !(BOUNDS as readonly string[]).includes(name))) {
    throw invalidArgument(
      field,
      'give a value, a list of values, { exists: true }, or bounds of one kind such as { atLeast: 3, below: 5 }',
    );
  }
  return test as MetadataTest;
}

/** Whether metadata meets every condition. */
export function meetsMetadata(metadata: Metadata, conditions: readonly MetadataCondition[]): boolean {
  return conditions.every(({ key, test }) => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    if ('exists' in test) return (value !== undefined) === test.exists;
    if ('in' in test) return value !== undefined && isScalar(value) && test.in.includes(value);
    return (
      within(value, test.above, (a, b) => a > b) &&
      within(value, test.atLeast, (a, b) => a >= b) &&
      within(value, test.below, (a, b) => a < b) &&
      within(value, test.atMost, (a, b) => a <= b)
    );
  });
}

function within(
  value: JsonValue | undefined,
  bound: string | number | undefined,
  holds: (value: string | number, bound: string | number) => boolean,
): boolean {
  if (bound === undefined) return true;
  return (typeof value === 'string' || typeof value === 'number') && typeof value === typeof bound
    ? holds(value, bound)
    : false;
}

function isScalar(value: unknown): value is MetadataScalar {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}

function isFiniteNumbers(test: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => Number.isFinite(test[name]));
}
