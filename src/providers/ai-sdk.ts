import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { onlyKeys } from '../domain/options.ts';
import type { Complete, Completion, Message } from './completion.ts';
import type { LanguageModel } from './language-model.ts';
import { property } from './property.ts';
import { quotable } from './server-message.ts';
import { LANGUAGE_MODEL_OPTION_NAMES, type LanguageModelOptions, structuredModel } from './structured.ts';
import { retryAfter } from './waiting.ts';

/** The part of a `LanguageModel` of the Vercel AI SDK that is used. Versions 2 to 4 of its specification have it. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCall): PromiseLike<unknown>;
}

/** The arguments of `doGenerate`. */
export interface AiSdkCall {
  prompt: AiSdkMessage[];
  responseFormat: { type: 'json'; name: string; schema: { [keyword: string]: unknown } };
  temperature: number;
  maxOutputTokens?: number;
  abortSignal: AbortSignal;
}

export type AiSdkMessage =
  | { role: 'system'; content: string }
  | { role: 'user' | 'assistant'; content: { type: 'text'; text: string }[] };

/**
 * Wraps a language model of the Vercel AI SDK, versions 5 to 7, for example
 * `aiSdkModel(anthropic('claude-sonnet-4-5'))`. The model is called directly, so the package `ai` is not needed. Its
 * `name` is `ai-sdk:<provider>:<model>`.
 *
 * Throws `invalid_argument` for anything that is not such a model, and for invalid options.
 *
 * @example
 * ```ts
 * import { openai } from '@ai-sdk/openai'; // or another provider
 * const languageModel = aiSdkModel(openai('gpt-4.1-mini'));
 * await using memory = await openMemory({ path: './memory', space: 'alice', languageModel });
 * ```
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: LanguageModelOptions = {}): LanguageModel {
  onlyKeys(options, LANGUAGE_MODEL_OPTION_NAMES, 'options');
  if (typeof model !== 'object' || model === null || typeof model.doGenerate !== 'function') {
    throw invalidArgument(
      'model',
      'expected a model made by a provider of the AI SDK, such as openai("gpt-4.1-mini") of @ai-sdk/openai, not a name',
    );
  }
  const name = `ai-sdk:${model.provider}:${model.modelId}`;
  return structuredModel(name, completer(name, model), options);
}

function completer(name: string, model: AiSdkLanguageModel): Complete {
  return async ({ messages, jsonSchema, temperature, maxOutputTokens, onCall, signal }) => {
    try {
      onCall();
      const result = await model.doGenerate({
        prompt: messages.map(toPrompt),
        responseFormat: { type: 'json', name: 'answer', schema: { ...jsonSchema } },
        temperature,
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
        abortSignal: signal,
      });
      return readResult(name, result);
    } catch (error) {
      return failure(
        name,
        error,
        messages.map(({ content }) => content),
      );
    }
  };
}

function toPrompt({ role, content }: Message): AiSdkMessage {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] };
}

function readResult(name: string, result: unknown): Completion {
  const content = property(result, 'content');
  if (!Array.isArray(content)) {
    return {
      kind: 'failed',
      temporary: false,
      retryAfterMs: undefined,
      error: () =>
        failed(name, 'gave no list "content": is its provider one for version 5, 6 or 7 of the AI SDK?', {}),
    };
  }
  const usage = property(result, 'usage');
  return {
    kind: 'text',
    text: content.map((part) => (property(part, 'type') === 'text' ? property(part, 'text') : '')).join(''),
    promptTokens: count(property(usage, 'inputTokens')),
    completionTokens: count(property(usage, 'outputTokens')),
    finish: finishOf(property(result, 'finishReason')),
  };
}

/**
 * Reads the finish reason. It is a string in version 2 of the specification, and an object that contains it in version
 * 3.
 */
function finishOf(reason: unknown): 'stop' | 'length' | 'declined' {
  const word = typeof reason === 'string' ? reason : property(reason, 'unified');
  if (word === 'content-filter') return 'declined';
  return word === 'length' ? 'length' : 'stop';
}

/** Reads a token count. It is a number in version 2 of the specification, and an object with its parts in version 3. */
function count(tokens: unknown): number | undefined {
  const total = typeof tokens === 'number' ? tokens : property(tokens, 'total');
  return Number.isSafeInteger(total) && (total as number) >= 0 ? (total as number) : undefined;
}

/** Converts an error of the SDK. It holds the whole request, so it does not become a `cause`. */
function failure(name: string, thrown: unknown, sent: readonly string[]): Completion {
  const status = property(thrown, 'statusCode');
  const headers = property(thrown, 'responseHeaders');
  return {
    kind: 'failed',
    temporary: property(thrown, 'isRetryable') === true,
    retryAfterMs: retryAfter(headersOf(headers)),
    error(attempts) {
      const details = { attempts, ...(typeof status === 'number' ? { status } : {}) };
      // The server's message about a key may contain parts of the key.
      if (status === 401)
        return failed(name, 'was refused (401): is the key of its provider right?', details);
      const message = quotable(thrown instanceof Error ? thrown.message : String(thrown), {
        secrets: [],
        texts: sent,
      });
      const tries = attempts === 1 ? '' : ` ${attempts} times`;
      const code = typeof status === 'number' ? ` with status ${status}` : '';
      return failed(name, `failed${tries}${code}. The provider says: ${message || 'nothing'}`, details);
    },
  };
}

function headersOf(value: unknown): Headers {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const kept = entries.filter(([name]) => /^(?:retry-after|date)$/i.test(name));
  return new Headers(Object.fromEntries(kept.map(([name, each]) => [name, String(each)])));
}

function failed(name: string, problem: string, details: Readonly<Record<string, unknown>>): SalienceError {
  return new SalienceError('model_failed', `${name} ${problem}`, { details: { model: name, ...details } });
}
