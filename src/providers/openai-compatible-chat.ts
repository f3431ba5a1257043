import { text, wholeNumber } from '../domain/check.ts';
import { onlyKeys } from '../domain/options.ts';
import type { Complete, Completion, CompletionRequest } from './completion.ts';
import { createPostJson, type HttpFailure, type HttpOptions, type HttpOutcome, plainUrl } from './http.ts';
import type { LanguageModel } from './language-model.ts';
import { adapted, firstDialect, requestBody } from './openai-compatible-dialect.ts';
import { type Endpoint, endpointUrl, findKey } from './openai-compatible-endpoint.ts';
import { type Api, brokenAnswer, failureOf } from './openai-compatible-failures.ts';
import { property } from './property.ts';
import { messageOfAnswer, serverMessage } from './server-message.ts';
import { LANGUAGE_MODEL_OPTION_NAMES, type LanguageModelOptions, structuredModel } from './structured.ts';
import { isTemporary } from './waiting.ts';

/** Options of {@link openAiCompatibleModel}. */
export interface OpenAiCompatibleModelOptions extends LanguageModelOptions {
  /** Base URL of the API, for example `http://127.0.0.1:11434/v1`. Requests go to `/chat/completions` below it. */
  readonly baseUrl: string;
  /** The model's name on that server. */
  readonly model: string;
  /** Default is the value of the environment variable `apiKeyEnv`; no key is sent when that is unset or empty. */
  readonly apiKey?: string | undefined;
  /** Default is `OPENAI_API_KEY` for the host api.openai.com, and `SALIENCE_MODEL_KEY` for every other. */
  readonly apiKeyEnv?: string | undefined;
  /** Most bytes of an answer. Default is 8 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Default is the global `fetch`. */
  readonly fetch?: HttpOptions['fetch'];
}

const optionNames = [
  'baseUrl',
  'model',
  'apiKey',
  'apiKeyEnv',
  'maxResponseBytes',
  'fetch',
  ...LANGUAGE_MODEL_OPTION_NAMES,
] as const satisfies readonly (keyof OpenAiCompatibleModelOptions)[];

const CHAT: Api = { code: 'model_failed', name: 'chat API', askForLess: 'request less at a time' };

/**
 * Creates a language model on any server with OpenAI's chat API: Ollama, LM Studio, llama.cpp, vLLM, OpenAI itself. Its
 * `name` is `openai-compatible:<model>`.
 *
 * The form of the answer is requested with `response_format`. If a server refuses a request with 400 or 422, it is sent
 * again without what the server does not support. What worked is remembered.
 *
 * Throws `invalid_argument` for invalid options.
 *
 * @example
 * ```ts
 * const model = openAiCompatibleModel({ baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama3.2' });
 * ```
 */
export function openAiCompatibleModel(options: OpenAiCompatibleModelOptions): LanguageModel {
  onlyKeys(options, optionNames, 'options');
  const url = endpointUrl(options.baseUrl, '/chat/completions');
  const endpoint: Endpoint = {
    url,
    address: plainUrl(url),
    model: text(options.model, 'model', { maxCharacters: 200 }),
    ...findKey(options, url, 'SALIENCE_MODEL_KEY'),
  };
  return structuredModel(`openai-compatible:${endpoint.model}`, completer(endpoint, options), options);
}

function completer(endpoint: Endpoint, options: OpenAiCompatibleModelOptions): Complete {
  const { url, key } = endpoint;
  const postJson = createPostJson({
    // `structuredModel` handles timeouts and retries.
    timeoutMs: 2 ** 31 - 1,
    retries: 0,
    maxResponseBytes: wholeNumber(options.maxResponseBytes ?? 8 * 2 ** 20, 'maxResponseBytes', 1024, 2 ** 30),
    fetch: options.fetch,
  });
  let known = firstDialect(url);
  return async (request) => {
    const sent = request.messages.map(({ content }) => content);
    let refusal: HttpFailure | undefined;
    let dialect = known;
    for (let calls = 1; ; calls++) {
      request.onCall();
      const outcome: HttpOutcome = await postJson({
        url,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: requestBody(endpoint.model, request, dialect),
        signal: request.signal,
      });
      if (outcome.kind === 'json') {
        known = dialect;
        return readCompletion(outcome.value, endpoint, request);
      }
      const refused = outcome.kind === 'status' && (outcome.status === 400 || outcome.status === 422);
      if (!refused) return failedCompletion(outcome, endpoint, sent);
      // The first refusal is about the whole request; later ones are about a reduced one.
      refusal ??= outcome;
      const said = serverMessage(outcome.body, { secrets: key ? [key] : [], texts: sent });
      const next = calls < request.maxCalls ? adapted(dialect, said) : undefined;
      if (next === undefined) return failedCompletion(refusal, endpoint, sent);
      dialect = next;
    }
  };
}

function failedCompletion(outcome: HttpFailure, endpoint: Endpoint, sent: readonly string[]): Completion {
  return {
    kind: 'failed',
    temporary: outcome.kind === 'status' ? isTemporary(outcome.status) : outcome.kind === 'unreachable',
    retryAfterMs: outcome.kind === 'status' ? outcome.retryAfterMs : undefined,
    error: (attempts) => failureOf({ ...outcome, attempts }, endpoint, CHAT, sent),
  };
}

function readCompletion(answer: unknown, endpoint: Endpoint, { messages }: CompletionRequest): Completion {
  const choices = property(answer, 'choices');
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = property(choice, 'message');
  if (typeof message !== 'object' || message === null) {
    const said = messageOfAnswer(answer, {
      secrets: endpoint.key ? [endpoint.key] : [],
      texts: messages.map(({ content }) => content),
    });
    const problem = `has no "choices" with a message${said === '' ? '' : `, but says: ${said}`}`;
    return {
      kind: 'failed',
      temporary: false,
      retryAfterMs: undefined,
      error: () => brokenAnswer(endpoint, CHAT, problem),
    };
  }
  const usage = property(answer, 'usage');
  return {
    kind: 'text',
    text: textOf(property(message, 'content')),
    promptTokens: count(property(usage, 'prompt_tokens')),
    completionTokens: count(property(usage, 'completion_tokens')),
    finish: finishOf(property(choice, 'finish_reason'), property(message, 'refusal')),
  };
}

function finishOf(reason: unknown, refusal: unknown): 'stop' | 'length' | 'declined' {
  if (reason === 'content_filter' || (typeof refusal === 'string' && refusal !== '')) return 'declined';
  return reason === 'length' ? 'length' : 'stop';
}

/** Returns the text of a message. Some servers answer with a list of parts. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  const texts = content.map((part) => property(part, 'text'));
  return texts.filter((text) => typeof text === 'string').join('');
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
