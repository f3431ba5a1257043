import type { ZodType } from 'zod';
import { invalidArgument, number, text, wholeNumber } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { isPlain, onlyKeys } from '../domain/options.ts';
import type { Complete, Completion, CompletionRequest, Message } from './completion.ts';
import type {
  GenerateRequest,
  JsonOutput,
  LanguageModel,
  ModelUsage,
  OutputSchema,
} from './language-model.ts';
import { addUsage, NO_USAGE } from './language-model.ts';
import { readJsonObject } from './read-json.ts';
import { type Sleep, stoppable, systemSleep, waitBeforeRetry } from './waiting.ts';

/** Time limits, retries and budget of a language model. */
export interface LanguageModelOptions {
  /** Milliseconds for one request, including reading its answer. Default is 60,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Retries of a request after a timeout, a broken connection, 408, 429 or 5xx. The waits between them are random, up
   * to 0.5 s, 1 s, 2 s and so on to 20 s, or what the server asks for in `Retry-After`. Default is 3.
   */
  readonly retries?: number | undefined;
  readonly budget?: ModelBudget | undefined;
  /** Waits between two attempts. Default is the system's timer. */
  readonly sleep?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Random numbers from 0 (included) to 1 (excluded), for the waits. Default is `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** Most that one call of `generate` may cost, including retries and repair. */
export interface ModelBudget {
  /** Most requests. Default is 10. */
  readonly maxCalls?: number | undefined;
  /**
   * Most tokens of prompts and answers together. Each answer is limited to what is left. Before a prompt is sent, one
   * token per four bytes is assumed. Default is unlimited.
   */
  readonly maxTokens?: number | undefined;
}

export const LANGUAGE_MODEL_OPTION_NAMES = [
  'timeoutMs',
  'retries',
  'budget',
  'sleep',
  'random',
] as const satisfies readonly (keyof LanguageModelOptions)[];

/** Characters of a wrong answer that are shown to the model again. */
const maxQuotedCharacters = 8000;
const maxProblemCharacters = 1000;
const alsoAfterRepair =
  'also after it was shown what was wrong: use a model that follows a JSON schema, or request less at a time';

interface Settings {
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxCalls: number;
  readonly maxTokens: number;
  readonly sleep: Sleep;
  readonly random: () => number;
}

/**
 * Builds a language model on an adapter: structure, repair, retries, timeout and budget. Throws `invalid_argument` for
 * invalid options.
 */
export function structuredModel(
  name: string,
  complete: Complete,
  options: LanguageModelOptions,
): LanguageModel {
  const settings = checkedSettings(options);
  return {
    name,
    async generate(request) {
      if (!isPlain(request)) throw invalidArgument('request', `expected an object, not ${describe(request)}`);
      const output = outputOf(request.schema);
      const system = `${text(request.system, 'system')}\n\n${formOf(output)}`;
      const messages: Message[] = [
        { role: 'system', content: system },
        { role: 'user', content: text(request.prompt, 'prompt') },
      ];
      let spent = NO_USAGE;
      for (let repairs = 0; ; repairs++) {
        const asked = { ...request, messages, jsonSchema: output.jsonSchema };
        const { answer, usage } = await ask(name, complete, asked, settings, spent);
        spent = usage;
        const reading = read(answer, output);
        if (reading.problem === undefined) return { value: reading.value, ...spent };
        if (repairs > 0) throw unusable(name, alsoAfterRepair, spent);
        messages.push(...correction(answer.text, reading.problem));
        const problem = budgetProblem(messages, settings, spent);
        if (problem) throw unusable(name, `and ${problem}`, spent);
      }
    },
  };
}

type Answer = Completion & { kind: 'text' };

/** Sends one question, with retries. */
async function ask(
  name: string,
  complete: Complete,
  request: Pick<GenerateRequest<unknown>, 'maxOutputTokens' | 'temperature' | 'signal'> &
    Pick<CompletionRequest, 'messages' | 'jsonSchema'>,
  settings: Settings,
  before: ModelUsage,
): Promise<{ answer: Answer; usage: ModelUsage }> {
  const { signal, messages, jsonSchema } = request;
  const { timeoutMs, retries, maxCalls, maxTokens, sleep, random } = settings;
  const temperature = number(request.temperature ?? 0, 'temperature', 0, 2);
  const wanted =
    request.maxOutputTokens === undefined
      ? Number.POSITIVE_INFINITY
      : wholeNumber(request.maxOutputTokens, 'maxOutputTokens', 1, 2 ** 31 - 1);
  let spent = before;
  const problem = budgetProblem(messages, settings, spent);
  if (problem) throw failed(name, problem, spent);
  for (let attempts = 1; ; attempts++) {
    const room = Math.min(wanted, maxTokens - tokensOf(spent) - estimateTokens(messages));
    let calls = 0;
    const outcome = await stoppable<Completion>(
      (inner) =>
        complete({
          messages,
          jsonSchema,
          temperature,
          maxOutputTokens: Number.isFinite(room) ? room : undefined,
          maxCalls: maxCalls - spent.calls,
          onCall: () => void calls++,
          signal: inner,
        }),
      signal,
      { milliseconds: timeoutMs, result: timedOut(name, timeoutMs) },
    );
    if (outcome.kind === 'text') {
      const { text, promptTokens, completionTokens } = outcome;
      const usage = addUsage(spent, {
        promptTokens: promptTokens ?? estimateTokens(messages),
        completionTokens: completionTokens ?? estimate(text),
        calls,
      });
      if (outcome.finish !== 'declined') return { answer: outcome, usage };
      throw failed(name, 'declined to answer: a filter of the server, or the model itself, refused', usage);
    }
    spent = addUsage(spent, { ...NO_USAGE, calls });
    const waitMs = outcome.temporary ? waitBeforeRetry(attempts, outcome.retryAfterMs, random) : undefined;
    if (waitMs === undefined || attempts > retries || spent.calls >= maxCalls) {
      throw withUsage(outcome.error(attempts), spent);
    }
    await stoppable((inner) => sleep(waitMs, inner), signal);
  }
}

function timedOut(name: string, timeoutMs: number): Completion {
  return {
    kind: 'failed',
    temporary: true,
    retryAfterMs: undefined,
    error: (attempts) =>
      new SalienceError(
        'model_failed',
        `${name} gave no whole answer within ${timeoutMs} ms${attempts === 1 ? '' : ` ${attempts} times`}: raise timeoutMs (a model's first start can take long), or request less at a time`,
        { details: { model: name, attempts } },
      ),
  };
}

function read<Value>(
  answer: Answer,
  output: JsonOutput<Value>,
): { readonly value: Value; readonly problem?: undefined } | { readonly problem: string } {
  if (answer.finish === 'length') {
    return { problem: 'the answer was cut off at the limit of tokens; make it shorter' };
  }
  try {
    return { value: output.parse(readJsonObject(answer.text)) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function correction(answer: string, problem: string): readonly Message[] {
  return [
    // Some servers refuse an empty message.
    { role: 'assistant', content: answer.slice(0, maxQuotedCharacters) || '(nothing)' },
    {
      role: 'user',
      content: `That answer cannot be used: ${problem.slice(0, maxProblemCharacters)}\nAnswer again with the whole corrected JSON object and nothing else.`,
    },
  ];
}

function formOf({ jsonSchema }: JsonOutput<unknown>): string {
  return `Answer with one JSON object and nothing else. It fits this JSON Schema:\n${JSON.stringify(jsonSchema)}`;
}

function outputOf<Value>(schema: OutputSchema<Value>): JsonOutput<Value> {
  const given = Object(schema) as Partial<ZodType<Value> & JsonOutput<Value>>;
  if (isPlain(given.jsonSchema) && typeof given.parse === 'function') return schema as JsonOutput<Value>;
  if (typeof given.toJSONSchema !== 'function' || typeof given.safeParse !== 'function') {
    throw invalidArgument('schema', 'expected a type of zod 4, or an object with jsonSchema and parse');
  }
  return zodOutput(schema as ZodType<Value>);
}

function zodOutput<Value>(schema: ZodType<Value>): JsonOutput<Value> {
  // `input`: the form that the model has to write, before defaults and transformations.
  const { $schema: _, ...jsonSchema } = schema.toJSONSchema({ io: 'input', target: 'draft-7' });
  if (jsonSchema['type'] !== 'object') throw invalidArgument('schema', 'the answer must be an object');
  return {
    jsonSchema,
    parse(value) {
      const result = schema.safeParse(value);
      if (result.success) return result.data;
      throw new Error(
        result.error.issues
          .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
          .join('; '),
      );
    },
  };
}

function budgetProblem(
  messages: readonly Message[],
  { maxCalls, maxTokens }: Settings,
  spent: ModelUsage,
): string | undefined {
  if (spent.calls >= maxCalls) return `has used up budget.maxCalls (${maxCalls}): raise it`;
  const prompt = estimateTokens(messages);
  return tokensOf(spent) + prompt < maxTokens
    ? undefined
    : `was not asked${spent.calls > 0 ? ' again' : ''}: a prompt of about ${prompt} tokens leaves none of budget.maxTokens (${maxTokens}) for an answer; raise it, or request less at a time`;
}

const tokensOf = ({ promptTokens, completionTokens }: ModelUsage) => promptTokens + completionTokens;

/** Assumes one token per four bytes of UTF-8, which is close for English and for Chinese. */
const estimate = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

function estimateTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + estimate(content), 0);
}

function failed(name: string, problem: string, spent: ModelUsage): SalienceError {
  return new SalienceError('model_failed', `${name} ${problem}`, { details: { model: name, ...spent } });
}

function unusable(name: string, circumstance: string, spent: ModelUsage): SalienceError {
  // The parse error may repeat texts of the request, so the message leaves it out.
  return new SalienceError(
    'model_invalid_output',
    `${name} gave an answer that cannot be read, ${circumstance}`,
    { details: { model: name, ...spent } },
  );
}

function withUsage(error: SalienceError, spent: ModelUsage): SalienceError {
  return new SalienceError(error.code, error.message, { details: { ...error.details, ...spent } });
}

function checkedSettings(options: LanguageModelOptions): Settings {
  const { budget = {}, sleep = systemSleep, random = Math.random } = options;
  onlyKeys(budget, ['maxCalls', 'maxTokens'], 'budget');
  return {
    timeoutMs: wholeNumber(options.timeoutMs ?? 60_000, 'timeoutMs', 1, 2 ** 31 - 1),
    retries: wholeNumber(options.retries ?? 3, 'retries', 0, 20),
    maxCalls: wholeNumber(budget.maxCalls ?? 10, 'budget.maxCalls', 1, 1000),
    maxTokens:
      budget.maxTokens === undefined
        ? Number.POSITIVE_INFINITY
        : wholeNumber(budget.maxTokens, 'budget.maxTokens', 1, Number.MAX_SAFE_INTEGER),
    sleep,
    random,
  };
}
