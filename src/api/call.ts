import type * as z from 'zod';
import { unknown } from '../domain/options.ts';
import { LONGEST_QUERY, longQuery } from '../domain/query.ts';
import { type MemoryEngine, SalienceError } from '../index.ts';
import type { Tool, VerbContext } from './verb.ts';

/**
 * Runs a verb on input from outside. Checks the input, and returns only what the output schema names. Throws
 * `invalid_argument` with the field, `store_read_only`, and what the engine throws.
 */
export async function callVerb<Input extends z.ZodObject, Output extends z.ZodType>(
  verb: Tool<Input, Output>,
  memory: MemoryEngine,
  input: unknown,
  context: VerbContext = {},
): Promise<z.output<Output>> {
  if (verb.access === 'write' && context.readOnly) {
    throw new SalienceError('store_read_only', `${verb.name}: only reading is allowed here`);
  }
  const checked = parseInput(verb, input);
  return verb.output.parse(await verb.run(memory, checked, context));
}

/** Checks the input of a verb. Throws `invalid_argument`; its message names the wrong fields, at most 20. */
export function parseInput<Input extends z.ZodObject>(
  verb: Pick<Tool<Input>, 'name' | 'input'>,
  input: unknown,
): z.output<Input> {
  const long = longList(verb.input, input);
  if (!long) refusePrototypes(input, '', 0, verb.name);
  const result = long
    ? { success: false as const, error: { issues: [long] } }
    : verb.input.safeParse(input ?? {});
  if (result.success) return result.data;
  const known = Object.keys(verb.input.shape);
  const { issues, more } = firstIssues(result.error.issues);
  const problems = issues.map((issue) => describeIssue(issue, known, input));
  if (more) problems.push('and more');
  throw new SalienceError('invalid_argument', `${verb.name}: ${problems.join('; ')}`, {
    details: detailsOf(issues[0], input),
  });
}

/** Most problems in one message. A large input may have as many problems as values. */
const MOST_PROBLEMS = 20;

/** Returns the first problems, one per place, and whether there are more. */
function firstIssues(all: readonly z.core.$ZodIssue[]): {
  readonly issues: readonly z.core.$ZodIssue[];
  readonly more: boolean;
} {
  const plain = all.slice(0, MOST_PROBLEMS + 1).flatMap(plainIssues);
  const issues = plain.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MOST_PROBLEMS + 1).map(onlyKey(issue)) : [issue],
  );
  return { issues: issues.slice(0, MOST_PROBLEMS), more: issues.length > MOST_PROBLEMS };
}

function onlyKey(issue: z.core.$ZodIssueUnrecognizedKeys): (key: string) => z.core.$ZodIssue {
  return (key) => ({ ...issue, keys: [key], message: `Unrecognized key: ${JSON.stringify(key)}` });
}

/**
 * Returns the useful issues of a union, for which zod only says that no form fits. If the value has the type of one
 * form, these are the issues within that form; otherwise one issue that names all possible types.
 */
function plainIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors
    .filter((form) => !form.some(isOfOtherKind))
    .sort((a, b) => a.length - b.length)[0];
  if (meant) {
    return meant.flatMap(plainIssues).map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
  }
  const kinds = [...new Set(kindsExpectedBy(issue))];
  const last = kinds.pop();
  const named = kinds.length === 0 ? last : `${kinds.join(', ')} or ${last}`;
  return [{ ...issue, message: `Invalid input: expected ${named}` }];
}

function isOfOtherKind(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && kindsExpectedBy(issue).length > 0;
}

function kindsExpectedBy(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_type') return [issue.expected];
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value));
  if (issue.code !== 'invalid_union') return [];
  return issue.errors.flatMap((form) => form.filter(isOfOtherKind).flatMap(kindsExpectedBy));
}

/** Finds the first list that is too long. zod would check all its entries before it reports the length. */
function longList(schema: z.core.$ZodType, value: unknown): z.core.$ZodIssueTooBig | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return longList(def.innerType, value);
    case 'union':
      return firstOf(def.options, (each) => longList(each, value));
    case 'array': {
      if (!Array.isArray(value)) return undefined;
      const maximum = longestOf(def);
      if (value.length > maximum)
        return { code: 'too_big', origin: 'array', maximum, path: [], message: '', input: value };
      return firstOf(value.entries(), ([at, each]) => under(at, longList(def.element, each)));
    }
    case 'object':
    case 'record': {
      if (typeof value !== 'object' || value === null) return undefined;
      const of = (key: string) => (def.type === 'record' ? def.valueType : def.shape[key]);
      const keys = Object.keys(def.type === 'record' ? value : def.shape);
      return firstOf(keys, (key) => {
        const each = Object.hasOwn(value, key) ? of(key) : undefined;
        return each && under(key, longList(each, value[key as keyof typeof value]));
      });
    }
    default:
      return undefined;
  }
}

/** Returns how many entries a list may have. Reads the checks, because copies of a schema keep only these. */
function longestOf({ checks = [] }: z.core.$ZodArrayDef): number {
  const limits = checks.map(({ _zod: { def } }) =>
    def.check === 'max_length' ? (def as z.core.$ZodCheckMaxLengthDef).maximum : Infinity,
  );
  return Math.min(...limits);
}

function firstOf<Each, Found>(
  all: Iterable<Each>,
  find: (each: Each) => Found | undefined,
): Found | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function under<Issue extends z.core.$ZodIssue>(
  key: PropertyKey,
  issue: Issue | undefined,
): Issue | undefined {
  return issue && { ...issue, path: [key, ...issue.path] };
}

/** Arguments of verbs that write many memories. `BATCH` is written in one transaction. */
const BATCH = 'memories';
const MESSAGES = 'messages';

/** More levels than the input of any verb has. */
const MOST_DEPTH = 20;

/**
 * Throws for a property named `__proto__`. zod would silently drop it, and a filter without it would match everything.
 */
function refusePrototypes(value: unknown, path: string, depth: number, verb: string): void {
  if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) return;
  for (const [key, each] of Object.entries(value)) {
    const field = placeOf(Array.isArray(value) ? [Number(key)] : [key], path);
    if (key === '__proto__') {
      throw new SalienceError('invalid_argument', `${verb}: ${field}: no property may have this name`, {
        details: { field },
      });
    }
    refusePrototypes(each, field, depth + 1, verb);
  }
}

function describeIssue(issue: z.core.$ZodIssue, known: readonly string[], input: unknown): string {
  const field = fieldOf(issue);
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    return issue.keys.map((key) => unknown('argument', key, known)).join('; ');
  }
  if (issue.code === 'too_big' && (issue.origin === 'array' || issue.origin === 'string')) {
    const { length } = issue.path.reduce<unknown>((at, key) => Object(at)[key], input) as ArrayLike<unknown>;
    return `${field}: ${tooLong(issue, field, length)}`;
  }
  return field === '' ? issue.message : `${field}: ${issue.message}`;
}

function tooLong({ origin, maximum }: z.core.$ZodIssueTooBig, field: string, length: number): string {
  if (origin === 'string')
    return maximum === LONGEST_QUERY
      ? longQuery(length)
      : `${length} characters are too many; at most ${maximum} are allowed`;
  const many = `${length} are too many; at most ${maximum} are allowed`;
  if (field === BATCH) return `${many} in one call, which is one transaction. Give them in several calls`;
  return field === MESSAGES ? `${many} in one call. Give them in several calls` : many;
}

/**
 * Returns the details of an error in the form of the engine's: for a memory of a batch, its `index` and the `field` in
 * it.
 */
function detailsOf(issue: z.core.$ZodIssue | undefined, input: unknown): Readonly<Record<string, unknown>> {
  const [list, index, ...rest] = issue?.path ?? [];
  if (!issue || list !== BATCH || typeof index !== 'number') return { field: fieldOf(issue) };
  const { [BATCH]: memories } = input as { readonly [BATCH]: readonly unknown[] };
  const isOfMemory = rest.length === 0;
  const field = fieldOf({ ...issue, path: isOfMemory ? ['memory'] : rest });
  return { field, ...(memories.length > 1 && { index }) };
}

function fieldOf(issue: z.core.$ZodIssue | undefined): string {
  return placeOf(issue?.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys] : (issue?.path ?? []));
}

/** `messages[1].content` */
function placeOf(path: readonly PropertyKey[], above = ''): string {
  return path.reduce<string>((place, part) => {
    if (typeof part === 'number') return `${place}[${part}]`;
    return place === '' ? String(part) : `${place}.${String(part)}`;
  }, above);
}
