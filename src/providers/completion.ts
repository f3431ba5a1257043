import type { SalienceError } from '../domain/errors.ts';
import type { JsonSchema } from './language-model.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One question to a model, as an adapter receives it. */
export interface CompletionRequest {
  readonly messages: readonly Message[];
  /**
   * The form of the answer. The messages describe it too, so an adapter may ignore it if its server cannot enforce it.
   */
  readonly jsonSchema: JsonSchema;
  readonly maxOutputTokens: number | undefined;
  readonly temperature: number;
  /** Most requests that may be sent for this question, at least 1. */
  readonly maxCalls: number;
  /** Call it as each request is sent. A request that is aborted later has been sent all the same. */
  readonly onCall: () => void;
  readonly signal: AbortSignal;
}

export type Completion =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** `undefined` if the server does not count tokens. */
      readonly promptTokens: number | undefined;
      readonly completionTokens: number | undefined;
      /** `length`: cut off at the token limit. `declined`: a filter or the model itself refused. */
      readonly finish: 'stop' | 'length' | 'declined';
    }
  | {
      readonly kind: 'failed';
      /** Whether a retry may help. */
      readonly temporary: boolean;
      readonly retryAfterMs: number | undefined;
      /** Creates the error. `attempts`: how many attempts were made. */
      readonly error: (attempts: number) => SalienceError;
    };

/** An adapter: sends one question, without waiting or retrying. */
export type Complete = (request: CompletionRequest) => Promise<Completion>;
