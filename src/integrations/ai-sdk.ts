/**
 * Memory for agents of the Vercel AI SDK: as tools that the model calls, or as middleware that needs no tool calls.
 *
 * @module
 */

import type { LanguageModelMiddleware, Tool } from 'ai';
import { callback, checkMemory, oneOf, text, wholeNumber } from '../domain/check.ts';
import { keysOf, onlyKeys, withInherited } from '../domain/options.ts';
import { asQuery } from '../domain/query.ts';
import { type ContextOptions, type MemoryEngine, SalienceError } from '../index.ts';
import { storable } from './kept-json.ts';
import { type MemoryToolOptions, toolsOf } from './tools.ts';

export type { MemoryToolOptions };

/**
 * Creates tools for `generateText`, `streamText` and agents, named like the verbs:
 * `{ remember, recall, update, forget }`. The application gets the engine's results; the model reads a short text in
 * which stored statements are quoted. Throws `invalid_argument` for an unknown tool name in `only`.
 *
 * @example
 * ```ts
 * import { openai } from '@ai-sdk/openai'; // or another provider
 * import { generateText, stepCountIs } from 'ai';
 * import { memoryTools } from 'salience/ai-sdk';
 * const { text } = await generateText({
 *   model: openai('gpt-4.1-mini'),
 *   tools: memoryTools(memory),
 *   stopWhen: stepCountIs(5),
 *   prompt: 'By the way, I am allergic to peanuts.',
 * });
 * ```
 */
export function memoryTools(memory: MemoryEngine, options: MemoryToolOptions = {}): Record<string, Tool> {
  return Object.fromEntries(
    toolsOf(memory, options).map(({ verb, run, text }): [string, Tool] => [
      verb.name,
      {
        title: verb.title,
        description: verb.description,
        inputSchema: verb.input,
        execute: (input, { abortSignal }) => run(input, abortSignal),
        toModelOutput: ({ output }) => ({ type: 'text', value: text(output) }),
      },
    ]),
  );
}

/** What was said in one turn of a conversation. */
export interface Turn {
  readonly user: string;
  /** In all steps of the turn, before tool calls too. Empty if the model called tools and said nothing. */
  readonly assistant: string;
}

export interface MemoryMiddlewareOptions
  extends Pick<
    ContextOptions,
    | 'strategy'
    | 'scope'
    | 'types'
    | 'typesExclude'
    | 'tags'
    | 'metadata'
    | 'minScore'
    | 'minRelevance'
    | 'maxContextItems'
  > {
  /** Most tokens of remembered context, at least 1. Default is 2,000. */
  readonly maxTokens?: number | undefined;
  /**
   * The session of this conversation. Its own memories are not put into prompts, because the conversation is there
   * already.
   */
  readonly sessionId?: string | undefined;
  /**
   * What to do with a turn after the model has answered. `worth` (default) observes what the user said and stores what
   * is worth it: the facts that the memory's language model finds, or without a model the message, unless it is only
   * politeness, small talk or a question. `remember` stores every turn word for word, as one memory of type `event`.
   * `none` stores nothing. A function receives the turn.
   */
  readonly observe?: 'worth' | 'remember' | 'none' | ((turn: Turn) => Promise<unknown>) | undefined;
  /**
   * Called when remembering or recalling fails, except after an abort. The model is called all the same. If `onError`
   * itself throws, both errors become warnings of the process. Default is a warning of the process.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const middlewareKeys = keysOf<MemoryMiddlewareOptions>()({
  strategy: true,
  scope: true,
  types: true,
  typesExclude: true,
  tags: true,
  metadata: true,
  minScore: true,
  minRelevance: true,
  maxContextItems: true,
  maxTokens: true,
  sessionId: true,
  observe: true,
  onError: true,
});

type Middleware = LanguageModelMiddleware;
type Call = Parameters<NonNullable<Middleware['transformParams']>>[0]['params'];
type Prompt = Call['prompt'];
type FinishReason = Awaited<ReturnType<NonNullable<Middleware['wrapGenerate']>>>['finishReason'];
type StreamPart =
  Awaited<ReturnType<NonNullable<Middleware['wrapStream']>>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

/**
 * Importance of what models and rules regard as mentioned in passing. Less important statements are not stored by
 * default.
 */
const MIN_IMPORTANCE = 0.3;

/** Most cached contexts that wait for the next step of their turn. */
const MOST_TURNS = 64;

/**
 * Parts that a middleware added to messages. With several middlewares, none of them must take these for the user's
 * words.
 */
const added = new WeakSet<object>();

/**
 * Creates middleware for `wrapLanguageModel`. Before a call it puts what is remembered about the user's last message
 * into that message, as fenced data that the model is told to treat as data. Further steps of a turn (after tool calls)
 * get the same text, so that the provider's cache holds. After the answer it observes the turn. Throws
 * `invalid_argument`.
 *
 * @example
 * ```ts
 * import { openai } from '@ai-sdk/openai'; // or another provider
 * import { generateText, wrapLanguageModel } from 'ai';
 * import { memoryMiddleware } from 'salience/ai-sdk';
 * const model = wrapLanguageModel({
 *   model: openai('gpt-4.1-mini'),
 *   middleware: memoryMiddleware(memory, { maxTokens: 1000 }),
 * });
 * const { text } = await generateText({ model, prompt: 'Can I eat noodles with peanuts?' });
 * ```
 */
export function memoryMiddleware(memory: MemoryEngine, options: MemoryMiddlewareOptions = {}): Middleware {
  checkMemory(memory);
  onlyKeys(options, middlewareKeys, 'memoryMiddleware');
  const {
    maxTokens = 2000,
    observe = 'worth',
    onError,
    sessionId,
    ...asked
  } = withInherited(options, middlewareKeys);
  wholeNumber(maxTokens, 'maxTokens', 1, Number.MAX_SAFE_INTEGER);
  if (typeof observe !== 'function') oneOf(observe, 'observe', ['worth', 'remember', 'none']);
  if (onError !== undefined) callback(onError, 'onError');
  if (sessionId !== undefined) text(sessionId, 'sessionId');
  const report = (error: unknown) => {
    if (onError === undefined) return warn(error);
    try {
      onError(error);
    } catch (thrown) {
      warn(error);
      warn(thrown);
    }
  };
  const contexts = new Map<string, string>();
  // By call, what the user said, without the parts that were added.
  const said = new WeakMap<object, string>();

  async function contextOf(query: string, isNewTurn: boolean, signal: AbortSignal | undefined) {
    const known = contexts.get(query);
    if (known !== undefined && !isNewTurn) return known;
    const { text } = await memory.context(asQuery(storable(query)), {
      ...asked,
      sessionId,
      exceptSession: sessionId,
      maxTokens,
      signal,
    });
    contexts.delete(query);
    contexts.set(query, text);
    for (const oldest of contexts.keys()) if (contexts.size > MOST_TURNS) contexts.delete(oldest);
    return text;
  }

  async function finished(params: Call, answer: string, reason: FinishReason | undefined) {
    const user = said.get(params);
    const over = reason?.unified === 'stop' || reason?.unified === 'length';
    if (observe === 'none' || !over || user === undefined) return;
    const earlier = earlierSteps(params.prompt);
    // No answer at all is no turn. After tool calls the model may end without a word: what the user said counts all the same.
    if (earlier.length === 0 && answer.trim() === '') return;
    const assistant = [...earlier.map(({ content }) => textOf(content)), answer]
      .filter((text) => text.trim() !== '')
      .join('\n');
    try {
      await keep({ user, assistant });
    } catch (error) {
      report(error);
    }
  }

  async function keep(turn: Turn): Promise<void> {
    if (typeof observe === 'function') {
      await observe(turn);
      return;
    }
    const { scope } = options;
    if (observe === 'remember') {
      const text = `User: ${turn.user}${turn.assistant === '' ? '' : `\nAssistant: ${turn.assistant}`}`;
      await memory.remember(storable(text), { type: 'event', scope, sessionId });
      return;
    }
    const { failures } = await memory.observe([{ role: 'user', content: storable(turn.user) }], {
      scope,
      sessionId,
      minImportance: MIN_IMPORTANCE,
    });
    for (const { code, message, kept } of failures)
      report(new SalienceError(code, message, { details: { kept } }));
  }

  return {
    specificationVersion: 'v3',
    async transformParams({ params }) {
      const at = params.prompt.findLastIndex(({ role }) => role === 'user');
      const query = textOf(params.prompt[at]?.content);
      if (query.trim() === '') return params;
      said.set(params, query);
      let text: string;
      try {
        text = await contextOf(query, at === params.prompt.length - 1, params.abortSignal);
      } catch (error) {
        // After an abort the caller knows.
        if (params.abortSignal?.aborted !== true) report(error);
        return params;
      }
      if (text === '') return params;
      const changed = { ...params, prompt: withContext(params.prompt, at, text) };
      said.set(changed, query);
      return changed;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await finished(params, textOf(result.content), result.finishReason);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let assistant = '';
      let reason: FinishReason | undefined;
      const watching = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === 'text-delta') assistant += part.delta;
          if (part.type === 'finish') reason = part.finishReason;
          controller.enqueue(part);
        },
        flush: () => finished(params, assistant, reason),
      });
      return { ...rest, stream: stream.pipeThrough(watching) };
    },
  };
}

/** What the model said and called since the user's last message. */
function earlierSteps(prompt: Prompt): Prompt {
  const at = prompt.findLastIndex(({ role }) => role === 'user');
  return prompt.slice(at + 1).filter(({ role }) => role === 'assistant');
}

function withContext(prompt: Prompt, at: number, text: string): Prompt {
  const part = { type: 'text', text } as const;
  added.add(part);
  return prompt.map((message, index) =>
    index === at && message.role === 'user' ? { ...message, content: [part, ...message.content] } : message,
  );
}

/** Returns the text parts of a message, without those that a middleware added. */
function textOf(content: string | readonly { readonly type: string }[] | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .flatMap((part) =>
      part.type === 'text' && 'text' in part && !added.has(part) ? [String(part.text)] : [],
    )
    .join('\n');
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
}
