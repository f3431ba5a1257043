import { expectTypeOf, test } from 'vitest';
import type { Memory, MemoryChanges, RememberInput } from '../engine/types.ts';
import type { ChangeField, CreateField, FIELDS, FieldName, InstantField } from './fields.ts';
import type { MemoryRecord, Metadata } from './memory.ts';
import type { Relation, RelationRecord } from './relation.ts';
import type { Instant } from './time.ts';

interface Values {
  name: string;
  names: readonly string[];
  text: string;
  texts: readonly string[];
  content: string;
  scope: string;
  metadata: Metadata;
  relations: readonly RelationRecord[];
  number: number;
  count: number;
  instant: Instant;
  flag: boolean;
}

type Table = typeof FIELDS;
/** What a field of a record may hold, by its entry. */
type ValueOf<Entry> = Entry extends { readonly choices: infer Choices extends readonly string[] }
  ? Choices[number]
  : Entry extends { readonly kind: infer Kind extends keyof Values }
    ?
        | Values[Kind]
        | (Entry extends { readonly initial: unknown } | { readonly required: true } ? never : undefined)
    : never;

test('the table has the fields of a record, with their values', () => {
  expectTypeOf<FieldName>().toEqualTypeOf<keyof MemoryRecord>();
  expectTypeOf<{ readonly [Name in FieldName]: ValueOf<Table[Name]> }>().toEqualTypeOf<{
    readonly [Name in FieldName]: Name extends 'type' ? string : MemoryRecord[Name];
  }>();
});

test('a memory has the fields of a record, with times as text, and three more', () => {
  type Added = 'space' | 'effectiveWeight' | 'votes';
  expectTypeOf<Omit<Memory, Added>>().toEqualTypeOf<{
    readonly [Name in FieldName]: Name extends InstantField
      ? string | Extract<MemoryRecord[Name], undefined>
      : Name extends 'relations'
        ? readonly Relation[] | undefined
        : MemoryRecord[Name];
  }>();
});

test('what callers may give is what the table lets them set', () => {
  expectTypeOf<keyof RememberInput>().toEqualTypeOf<CreateField | 'ttl'>();
  expectTypeOf<keyof MemoryChanges>().toEqualTypeOf<ChangeField | 'ttl' | 'updatedAt'>();
});
