import { agentVerbs, callVerb, failureOf, type Verb } from '../api/index.ts';
import { checkMemory, flag, list } from '../domain/check.ts';
import { keysOf, onlyKeys, unknown } from '../domain/options.ts';
import { type MemoryEngine, SalienceError } from '../index.ts';

export interface MemoryToolOptions {
  /** Which verbs become tools. Default is `remember`, `recall`, `update` and `forget`. */
  readonly only?: readonly string[] | undefined;
  /** Only tools that write nothing. Recalls then have no effect on the memories either. Default is false. */
  readonly readOnly?: boolean | undefined;
}

const optionKeys = keysOf<MemoryToolOptions>()({ only: true, readOnly: true });

/** A verb in the form that every framework's tool needs. */
export interface MemoryTool {
  readonly verb: Verb;
  /**
   * Checks the input and runs the verb. Errors say how to fix the call; details about files and servers are in their
   * `cause`.
   */
  run(input: unknown, signal: AbortSignal | undefined): Promise<unknown>;
  /** Formats the result for a model: one line per memory, with stored texts quoted as data. */
  text(output: unknown): string;
}

const USUAL = ['remember', 'recall', 'update', 'forget'];

/** Returns verbs as tools over one memory. Throws `invalid_argument` for a name that is not a tool. */
export function toolsOf(memory: MemoryEngine, options: MemoryToolOptions): readonly MemoryTool[] {
  checkMemory(memory);
  onlyKeys(options, optionKeys, 'memoryTools');
  const { only = USUAL, readOnly = false } = options;
  flag(readOnly, 'readOnly');
  list(only, 'only');
  const known = agentVerbs.map(({ name }) => name);
  const [other] = only.filter((name) => !known.includes(name));
  if (other !== undefined) {
    throw new SalienceError('invalid_argument', `only: ${unknown('tool', other, known)}`, {
      details: { field: 'only' },
    });
  }
  return agentVerbs
    .filter(({ name, access }) => only.includes(name) && !(readOnly && access === 'write'))
    .map((verb) => ({
      verb,
      async run(input, signal) {
        try {
          return await callVerb(verb, memory, input, { signal, readOnly });
        } catch (error) {
          const { message, mendable } = failureOf(error);
          if (mendable || !SalienceError.isInstance(error)) throw error;
          throw new SalienceError(error.code, message, { cause: error });
        }
      },
      text: (output) => verb.text(output),
    }));
}
