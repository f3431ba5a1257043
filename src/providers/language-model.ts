import type { ZodType } from 'zod';
import type { SalienceError } from '../domain/errors.ts';

/** A model that answers in words, made to answer in data. */
export interface LanguageModel {
  /** For reports and traces, for example `openai-compatible:llama3.2`. */
  readonly name: string;
  /**
   * Asks for a value of the schema and gives it checked. An answer that cannot be read is shown to the model once,
   * with what is wrong, to be mended.
   *
   * Throws `aborted` as soon as the signal aborts; `model_invalid_output` when the mended answer is of no use either;
   * and `model_failed` for everything else. `details` of both hold the {@link ModelUsage} that was spent. No error
   * holds a key or a text of the request.
   */
  generate<Value>(request: GenerateRequest<Value>): Promise<Generated<Value>>;
}

export interface GenerateRequest<Value> {
  /** What the model is to do. */
  readonly system: string;
  /** What it is to do it with. */
  readonly prompt: string;
  readonly schema: OutputSchema<Value>;
  /** Most tokens of one answer. Default is what the model allows. */
  readonly maxOutputTokens?: number | undefined;
  /** Default is 0: the likeliest answer. */
  readonly temperature?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The answer's form: a zod type, or a JSON Schema with a reader of your own. The answer is a JSON object. */
export type OutputSchema<Value> = ZodType<Value> | JsonOutput<Value>;

export interface JsonOutput<Value> {
  readonly jsonSchema: JsonSchema;
  /** Reads what `JSON.parse` gave; throws an error whose message tells the model what is wrong. */
  readonly parse: (value: unknown) => Value;
}

export type JsonSchema = { readonly [keyword: string]: unknown };

/** What was spent. Where a server does not count, a token for every four bytes is assumed. */
export interface ModelUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Requests that were sent: tries, retries and repairs. */
  readonly calls: number;
}

export interface Generated<Value> extends ModelUsage {
  readonly value: Value;
}

export const NO_USAGE: ModelUsage = { promptTokens: 0, completionTokens: 0, calls: 0 };

/** A count as a model of the caller's own gives it; 0 for what is none. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    promptTokens: countOf(a.promptTokens) + countOf(b.promptTokens),
    completionTokens: countOf(a.completionTokens) + countOf(b.completionTokens),
    calls: countOf(a.calls) + countOf(b.calls),
  };
}

/** What a failed question cost nevertheless. */
export function usageIn({ details }: SalienceError): ModelUsage {
  return {
    promptTokens: countOf(details['promptTokens']),
    completionTokens: countOf(details['completionTokens']),
    calls: countOf(details['calls']),
  };
}
