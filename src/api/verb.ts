import * as z from 'zod';
import { type Arguments, capitalised, objectSchema } from '../domain/arguments.ts';
import { aboutVerb, toolNameOf, type VerbEntry, type VerbName, verbEntry } from '../domain/verbs.ts';
import type { MemoryEngine, OperationOptions } from '../index.ts';

/** What a call of a verb has beside the input of the caller. */
export interface VerbContext extends OperationOptions {
  /** The caller may not write. Verbs with access `learn` then run with `track: false`. Default is false. */
  readonly readOnly?: boolean | undefined;
}

/** An operation on a memory that is called by name: a verb, or a tool of another dialect. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  /** For example `recall` or `why_not`. */
  readonly name: string;
  readonly title: string;
  /** What it does and when to use it, for people and models. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /** See {@link VerbEntry}. */
  readonly access: VerbEntry['access'];
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly wholeSpace?: boolean | undefined;
  run(memory: MemoryEngine, input: z.output<Input>, context: VerbContext): Promise<z.input<Output>>;
  /** Formats the output for a reader. Stored texts are quoted as data. */
  text(output: z.output<Output>): string;
}

/** An entry of the table of verbs, with what tools, routes and the OpenAPI document need. */
export interface Verb<Output extends z.ZodType = z.ZodType> extends Tool<z.ZodObject, Output> {
  readonly http: { readonly method: string; readonly path: string };
  /** Whether agents get it as a tool. */
  readonly tool: boolean;
  /** Arguments that the tool does not have: a model must not decide where a memory comes from, or when it was known. */
  readonly notForAgents: readonly string[];
  /** Values of arguments that an agent leaves out. */
  readonly agentDefaults: Readonly<Record<string, unknown>>;
}

/** The part of a verb that is not in the table: its answer. */
export interface VerbAnswer<Output extends z.ZodType, Result = unknown>
  extends Pick<Tool<z.ZodObject, Output>, 'output' | 'text'> {
  /** Converts the engine's result to the schema. Default is no conversion. */
  shape?(result: Result, input: VerbInput): z.input<Output>;
  /** Replaces the call of the engine's method that the entry names. */
  run?: Tool<z.ZodObject, Output>['run'];
}

type VerbInput = Readonly<Record<string, unknown>>;

/** Adds the answer to an entry of the table of verbs. */
export function defineVerb<Output extends z.ZodType, Result = z.input<Output>>(
  name: VerbName,
  { output, text, shape, run }: VerbAnswer<Output, Result>,
): Verb<Output> {
  const entry = verbEntry(name);
  const [method = '', path = ''] = (entry.route ?? '').split(' ');
  const all: Arguments = { ...entry.arguments, ...entry.shows };
  let input: z.ZodObject | undefined;
  return {
    output,
    text,
    async run(memory, given, context) {
      if (run) return run(memory, given, context);
      const result = await runEntry(name, memory, given, context);
      return shape ? shape(result as Result, given) : (result as z.input<Output>);
    },
    name: toolNameOf(name),
    title: capitalised(entry.summary),
    description: aboutVerb(entry),
    // Created on first use, because most programs use few of the verbs.
    get input() {
      input ??= z.fromJSONSchema(objectSchema(all) as z.core.JSONSchema.JSONSchema) as z.ZodObject;
      return input;
    },
    access: entry.access,
    destructive: entry.destructive === true,
    idempotent: entry.idempotent === true,
    wholeSpace: entry.wholeSpace === true,
    http: { method, path },
    tool: entry.agents === true,
    notForAgents: Object.keys(all).filter((name) => all[name]?.agents === false),
    agentDefaults: Object.fromEntries(
      Object.entries(all).flatMap(([name, { agentDefault }]) =>
        agentDefault === undefined ? [] : [[name, agentDefault]],
      ),
    ),
  };
}

/** Creates a verb whose answer is any JSON object. */
export function plainVerb(name: VerbName): Verb {
  return defineVerb(name, {
    output: z.looseObject({}),
    text: (answer) => JSON.stringify(answer, undefined, 2),
  });
}

/**
 * Calls the engine's method with the arguments in its order. Wraps a result that is not an object as the entry says.
 */
async function runEntry(
  name: VerbName,
  memory: MemoryEngine,
  input: VerbInput,
  context: VerbContext,
): Promise<unknown> {
  const entry = verbEntry(name);
  const { takes = [], rest, answer, local = ['now'], method = name } = entry;
  const placed = Object.fromEntries(takes.map((each) => [each, input[each]]));
  const others = Object.fromEntries(
    Object.entries(input).filter(
      ([each]) => !takes.includes(each) && !(entry.shows && Object.hasOwn(entry.shows, each)),
    ),
  );
  const options = {
    ...(rest === undefined ? others : {}),
    signal: context.signal,
    ...(local.includes('now') ? { now: context.now } : {}),
    ...(entry.access === 'learn' && context.readOnly ? { track: false } : {}),
  };
  const run = memory[method as keyof MemoryEngine] as (...given: unknown[]) => Promise<unknown>;
  const result = await run(...Object.values(placed), ...(rest === undefined ? [] : [others]), options);
  if (answer === undefined) return result;
  return { ...placed, ...('list' in answer ? { [answer.list]: result } : answer) };
}

/** Returns the part of the context that the engine takes. */
export function operationOf({ signal, now }: VerbContext): OperationOptions {
  return { signal, now };
}
