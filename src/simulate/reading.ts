import { invalidArgument, oneOf } from '../domain/check.ts';

const KINDS = ['settings', 'memory', 'recall'] as const;

/** A line of a script in JSON Lines. */
export interface LineItem {
  readonly where: string;
  readonly kind: (typeof KINDS)[number];
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Parses a JSON object. Throws `invalid_argument` naming `where`. */
export function readFields(json: string, where: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw invalidArgument(where, `this is not valid JSON, or is cut off: ${(cause as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalidArgument(where, 'expected a JSON object');
}

/** Parses the lines that are not blank. Each is an object whose `kind` is separated from its other fields. */
export function readLineItems(source: string): readonly LineItem[] {
  return source.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `line ${index + 1}`;
    const { kind, ...fields } = readFields(line, where);
    return [{ where, kind: oneOf(kind, `${where}.kind`, KINDS), fields }];
  });
}
