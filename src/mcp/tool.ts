import type * as z from 'zod';
import type { Tool } from '../api/index.ts';

export type { Tool };

/** Lets the compiler infer the schemas of a tool. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodType>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> {
  return tool;
}

/** The tools under which one memory is offered, and how a model is told to use them. */
export interface Dialect {
  readonly tools: readonly Tool[];
  /** For the model, at the start of a conversation. */
  readonly instructions: string;
  /** The tool that stores a statement. */
  readonly remember: string;
  readonly recall: string;
  /** Says an error of the engine in the words of these tools. Default is as it is. */
  readonly mend?: ((error: unknown) => unknown) | undefined;
  /** Where its recall looks, with a project or with nothing said. Default is the whole space. */
  readonly viewOf?: (project: string | undefined) => { readonly scope?: string | undefined };
}
