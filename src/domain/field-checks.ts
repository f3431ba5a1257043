import { instant, invalidArgument, metadata, number, oneOf, text, texts, wholeNumber } from './check.ts';
import { SalienceError } from './errors.ts';
import { FIELDS, type Field, type FieldName, isClearable } from './fields.ts';
import type { MemoryRecord, Metadata } from './memory.ts';
import { redactMetadata, redactPrivate } from './redaction.ts';
import { parseRelations } from './relation.ts';
import { parseScope } from './scope.ts';
import { isInvisible } from './statement.ts';
import { findTextProblem, isStorable } from './wellformed.ts';

/** The size limits of a memory. */
export interface TextLimits {
  /** Bytes of UTF-8; `Infinity` for no limit. */
  readonly maxContentBytes: number;
  /** Bytes of metadata as JSON in UTF-8; `Infinity` for no limit. */
  readonly maxMetadataBytes: number;
}

export const NO_LIMITS: TextLimits = { maxContentBytes: Infinity, maxMetadataBytes: Infinity };

type Given = Readonly<Record<string, unknown>>;

/** Checks the given fields and converts them to the form of a record. Throws a typed error that names the field. */
export function checkedFields<Name extends FieldName>(
  given: Given,
  names: readonly Name[],
  limits: TextLimits,
): Partial<Pick<MemoryRecord, Name>> {
  const checked: Record<string, unknown> = {};
  for (const name of names) {
    if (given[name] !== undefined) checked[name] = checkField(name, given[name], limits);
  }
  return checked as Partial<Pick<MemoryRecord, Name>>;
}

/** Does the same for changes, in which `null` clears a field. */
export function checkedChanges<Name extends Parameters<typeof isClearable>[0]>(
  given: Given,
  names: readonly Name[],
  limits: TextLimits,
): Partial<Pick<MemoryRecord, Name>> {
  const cleared = names.filter((name) => given[name] === null && isClearable(name));
  const rest = names.filter((name) => !cleared.includes(name));
  return {
    ...checkedFields(given, rest, limits),
    ...Object.fromEntries(cleared.map((name) => [name, undefined])),
  };
}

function checkField(name: FieldName, value: unknown, limits: TextLimits): unknown {
  const field: Field = FIELDS[name];
  const { maxCharacters = Infinity, maxItems = Infinity, range = [0, 1], choices = [] } = field;
  switch (field.kind) {
    case 'name':
      return nameOf(text(value, name, { maxCharacters }), field, name);
    case 'names':
      return texts([value].flat(), name, maxItems, maxCharacters).map((each) => nameOf(each, field, name));
    case 'text':
      return storable(text(value, name, { maxCharacters }), name);
    case 'texts':
      return texts(value, name, maxItems, maxCharacters).map((each, at) => storable(each, `${name}[${at}]`));
    case 'content':
      return checkContent(value, limits.maxContentBytes);
    case 'scope':
      return parseScope(value as string);
    case 'metadata':
      return checkMetadata(value, limits.maxMetadataBytes);
    case 'relations':
      return parseRelations(value, name);
    case 'number':
      return number(value, name, ...range);
    case 'count':
      return wholeNumber(value, name, Number(field.initial), Number.MAX_SAFE_INTEGER);
    case 'instant':
      return instant(value as string, name);
    case 'choice':
      return oneOf(value as string, name, choices);
    case 'flag':
      if (typeof value === 'boolean') return value;
      throw invalidArgument(name, 'expected true or false');
  }
}

function nameOf(value: string, { anyCharacters }: Field, name: FieldName): string {
  if (!anyCharacters) return wellFormed(value, name);
  // No store can hold these. Checked here, so that the error names this field and not one derived from it.
  if (isStorable(value)) return value;
  throw new SalienceError(
    'invalid_text',
    `${name}: the text holds a NUL or half of a surrogate pair; remove it`,
    { details: { field: name } },
  );
}

function checkContent(value: unknown, limit: number): string {
  const content = storable(text(value, 'content'), 'content');
  if (isInvisible(content))
    throw invalidArgument('content', 'it must not be empty: nothing in it can be seen');
  checkSize('content', content, limit, 'remember its parts, or raise maxContentBytes');
  return content;
}

function checkMetadata(value: unknown, limit: number): Metadata {
  const checked = redactMetadata(metadata(value, 'metadata'));
  return metadataWithin(checked, limit, 'keep less of it, or raise maxMetadataBytes');
}

/** Returns metadata. Throws `content_too_large`, with `remedy`, if it exceeds the limit. */
export function metadataWithin(kept: Metadata, limit: number, remedy: string): Metadata {
  checkSize('metadata', JSON.stringify(kept), limit, remedy);
  return kept;
}

/** Throws `content_too_large`, with `remedy`, if a text exceeds the limit. */
export function checkSize(field: 'content' | 'metadata', kept: string, limit: number, remedy: string): void {
  const bytes = Buffer.byteLength(kept);
  if (bytes <= limit) return;
  const size = field === 'content' ? `${bytes} bytes` : `${bytes} bytes as JSON`;
  throw new SalienceError(
    'content_too_large',
    `${field}: ${size} are more than the limit of ${limit}; ${remedy}`,
    { details: { field, bytes, limit } },
  );
}

/** Returns a text as it is stored: without parts marked as private. Throws `invalid_text`. */
export function storable(value: string, field: string): string {
  return redactPrivate(wellFormed(value, field));
}

function wellFormed(value: string, field: string): string {
  const problem = findTextProblem(value);
  if (problem === undefined) return value;
  throw new SalienceError(
    'invalid_text',
    problem === 'invalid-utf16'
      ? `${field}: the text has half of a surrogate pair; decode it as UTF-8 or UTF-16 before handing it in`
      : `${field}: the text has a control character; only tab, line feed and carriage return are allowed`,
    { details: { field, problem } },
  );
}
