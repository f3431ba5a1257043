import type * as z from 'zod';
import type { Tool } from '../api/index.ts';

export type { Tool };

/** Returns the tool unchanged; lets the compiler infer its schemas. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return tool;
}

/** The tools under which a memory is offered, with instructions for the model. */
export interface Dialect {
  readonly tools: readonly Tool[];
  /** For the model, at the start of a conversation. */
  readonly instructions: string;
  /** The tool that stores a statement. */
  readonly remember: string;
  readonly recall: string;
  /** Rewrites an error of the engine in terms of these tools. Default is no change. */
  readonly mend?: ((error: unknown) => unknown) | undefined;
  /** Returns where its recall looks, by project. Default is the whole space. */
  readonly viewOf?: (project: string | undefined) => { readonly scope?: string | undefined };
}
