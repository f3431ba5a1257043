import type { SalienceError } from '../domain/errors.ts';
import type { JsonSchema } from './language-model.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One question to a model; what an adapter has to understand. */
export interface CompletionRequest {
  readonly messages: readonly Message[];
  /** The answer's form. It is in the messages too: a server that cannot enforce it may ignore it. */
  readonly jsonSchema: JsonSchema;
  readonly maxOutputTokens: number | undefined;
  readonly temperature: number;
  /** Most requests that may be sent for it, at least 1. */
  readonly maxCalls: number;
  /** To be called as each request is sent: one that is given up halfway has been sent all the same. */
  readonly onCall: () => void;
  readonly signal: AbortSignal;
}

export type Completion =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** `undefined` where the server does not count. */
      readonly promptTokens: number | undefined;
      readonly completionTokens: number | undefined;
      /** `length`: cut off at the limit of tokens; `declined`: a filter or the model itself refused. */
      readonly finish: 'stop' | 'length' | 'declined';
    }
  | {
      readonly kind: 'failed';
      /** Trying again may help. */
      readonly temporary: boolean;
      readonly retryAfterMs: number | undefined;
      /** The error, after so many tries. */
      readonly error: (attempts: number) => SalienceError;
    };

/** What an adapter is: it sends a request once, without waiting or trying again. */
export type Complete = (request: CompletionRequest) => Promise<Completion>;
