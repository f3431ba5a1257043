import type * as z from 'zod';
import type { MemoryEngine, OperationOptions } from '../index.ts';

/** What surrounds a call of a verb and is not of the caller's asking. */
export interface VerbContext extends OperationOptions {
  /** The caller may not write: what `learn`s then leaves nothing behind. Default is false. */
  readonly readOnly?: boolean | undefined;
}

/**
 * One thing that can be asked of a memory. This is the only place where a verb is described: tools, routes, API
 * documents and help are made of it.
 */
export interface Verb<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  /** As a tool is named: `recall`, `why_not`. */
  readonly name: string;
  readonly title: string;
  /** For people and models: what it does and when to use it. */
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  /**
   * `write` needs the right to write. `learn` answers everyone, and may note that memories were used; it is not
   * read-only, and runs with `readOnly` for whoever may not write.
   */
  readonly access: 'read' | 'learn' | 'write';
  /** Takes away something that was there. */
  readonly destructive: boolean;
  /** Doing it twice is doing it once. */
  readonly idempotent: boolean;
  /** Concerns the whole space: whoever may see some of its scopes alone is refused. Default is false. */
  readonly wholeSpace?: boolean | undefined;
  readonly http: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Names in braces are fields of the input: `/v1/memories/{id}`. */
    readonly path: string;
  };
  /** Offered to agents as a tool. */
  readonly tool: boolean;
  /** Fields that a tool has not: a model must not decide where a memory comes from, or when it was known. */
  readonly notForAgents?: readonly string[] | undefined;
  run(memory: MemoryEngine, input: z.output<Input>, context: VerbContext): Promise<z.input<Output>>;
  /** The same answer for a reader. Stored texts stand in it as quoted data. */
  text(output: z.output<Output>): string;
}

/** Lets the compiler infer the schemas of an entry. */
export function defineVerb<Input extends z.ZodObject, Output extends z.ZodType>(
  verb: Verb<Input, Output>,
): Verb<Input, Output> {
  return verb;
}

/** The part of the context that the engine takes. */
export function operationOf({ signal, now }: VerbContext): OperationOptions {
  return { signal, now };
}
