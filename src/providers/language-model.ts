import type { ZodType } from 'zod';
import type { SalienceError } from '../domain/errors.ts';

/** A language model that returns structured data. */
export interface LanguageModel {
  /** For reports and traces, for example `openai-compatible:llama3.2`. */
  readonly name: string;
  /**
   * Asks for a value of the schema and returns it checked. If an answer cannot be read, the model is asked once more,
   * with a description of the problem.
   *
   * Throws `aborted` as soon as the signal aborts, `model_invalid_output` when the second answer cannot be read either,
   * and `model_failed` for everything else. The `details` of the last two hold the {@link ModelUsage} that was spent.
   * No error contains a key or a text of the request.
   */
  generate<Value>(request: GenerateRequest<Value>): Promise<Generated<Value>>;
}

export interface GenerateRequest<Value> {
  /** The instructions. */
  readonly system: string;
  /** The input. */
  readonly prompt: string;
  readonly schema: OutputSchema<Value>;
  /** Most tokens of one answer. Default is the limit of the model. */
  readonly maxOutputTokens?: number | undefined;
  /** Default is 0: the most likely answer. */
  readonly temperature?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The form of the answer, which is a JSON object: a zod type, or a JSON Schema with your own parser. */
export type OutputSchema<Value> = ZodType<Value> | JsonOutput<Value>;

export interface JsonOutput<Value> {
  readonly jsonSchema: JsonSchema;
  /** Reads the result of `JSON.parse`. Throws an error whose message tells the model what is wrong. */
  readonly parse: (value: unknown) => Value;
}

export type JsonSchema = { readonly [keyword: string]: unknown };

/** What was spent. If a server does not count tokens, one per four bytes is assumed. */
export interface ModelUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Requests that were sent, including retries and repairs. */
  readonly calls: number;
}

export interface Generated<Value> extends ModelUsage {
  readonly value: Value;
}

export const NO_USAGE: ModelUsage = { promptTokens: 0, completionTokens: 0, calls: 0 };

/** Reads a count from a model of the caller. Anything that is not a valid count becomes 0. */
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

/** Reads the usage from the error of a failed question. */
export function usageIn({ details }: SalienceError): ModelUsage {
  return {
    promptTokens: countOf(details['promptTokens']),
    completionTokens: countOf(details['completionTokens']),
    calls: countOf(details['calls']),
  };
}
