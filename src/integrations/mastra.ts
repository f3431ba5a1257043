/**
 * Memory for agents of Mastra, as tools that the model calls.
 *
 * @module
 */

import type { Tool } from '@mastra/core/tools';
import { loadPeer } from '../domain/peer.ts';
import type { MemoryEngine } from '../index.ts';
import { type MemoryToolOptions, toolsOf } from './tools.ts';

export type { MemoryToolOptions };

const { createTool } = await loadPeer(
  () => import('@mastra/core/tools'),
  ['@mastra/core'],
  'salience/mastra',
);

/**
 * Creates tools for an `Agent`, named like the verbs: `{ remember, recall, update, forget }`. The application gets the
 * engine's results; the model reads a short text in which stored statements are quoted. Throws `invalid_argument` for
 * an unknown tool name in `only`.
 *
 * @example
 * ```ts
 * import { Agent } from '@mastra/core/agent';
 * import { memoryTools } from 'salience/mastra';
 * const agent = new Agent({
 *   id: 'assistant',
 *   name: 'Assistant',
 *   instructions: 'Recall before you answer, remember what should last.',
 *   model: 'anthropic/claude-sonnet-4-5',
 *   tools: memoryTools(memory),
 * });
 * ```
 */
export function memoryTools(
  memory: MemoryEngine,
  options: MemoryToolOptions = {},
): Record<string, Tool<Record<string, unknown>, unknown>> {
  return Object.fromEntries(
    toolsOf(memory, options).map(({ verb, run, text }) => [
      verb.name,
      createTool({
        id: verb.name,
        description: verb.description,
        inputSchema: verb.input,
        execute: (input, { abortSignal }) => run(input, abortSignal),
        toModelOutput(output) {
          const refusal = refusalOf(output);
          return refusal === undefined
            ? { type: 'text', value: text(output) }
            : { type: 'error-text', value: refusal };
        },
      }),
    ]),
  );
}

/**
 * Returns Mastra's message about an invalid input. Mastra passes it on as the output of the tool, which did not run.
 */
function refusalOf(output: unknown): string | undefined {
  const { error, message, validationErrors } = Object(output) as Record<string, unknown>;
  return error === true && validationErrors !== undefined ? String(message) : undefined;
}
