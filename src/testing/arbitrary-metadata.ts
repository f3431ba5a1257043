import fc from 'fast-check';
import type { Metadata } from '../domain/memory.ts';
import type { MetadataCondition, MetadataScalar, MetadataTest } from '../domain/metadata-condition.ts';

/** Few names and values, so that conditions are often met; among them names that a store may confuse. */
const name = fc.constantFrom('a', 'b', '', 'a b', 'ä', '__proto__', "it's", '"', '$.a');
const ordered = fc.constantFrom<(string | number)[]>(
  0,
  -0,
  1,
  1.5,
  -3,
  1e21,
  2 ** 53,
  '',
  '1',
  'b',
  'ä',
  'null',
);
const scalar: fc.Arbitrary<MetadataScalar> = fc.oneof(ordered, fc.constantFrom(null, true, false));
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constantFrom([], [1], { b: 1 }, ['b']) },
);

export const arbitraryMetadata: fc.Arbitrary<Metadata> = fc
  .uniqueArray(fc.tuple(name, value), { selector: ([each]) => each, maxLength: 4 })
  // Values that JSON cannot represent, such as -0, only occur in conditions.
  .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as Metadata);

const bound = fc.constantFrom('above', 'atLeast', 'below', 'atMost');
const bounds = fc.oneof(fc.constant('number'), fc.constant('string')).chain((kind) =>
  fc.dictionary(
    bound,
    ordered.filter((each) => typeof each === kind),
    { minKeys: 1, maxKeys: 3 },
  ),
);
const test: fc.Arbitrary<MetadataTest> = fc.oneof(
  fc.array(scalar, { maxLength: 3 }).map((list) => ({ in: list })),
  fc.boolean().map((exists) => ({ exists })),
  bounds.map((each) => ({ ...each })),
);

export const arbitraryConditions: fc.Arbitrary<readonly MetadataCondition[]> = fc.array(
  fc.record({ key: name, test }),
  { maxLength: 3 },
);
