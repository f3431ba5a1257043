import { SalienceError } from '../domain/errors.ts';
import type { LanguageModel } from '../providers/language-model.ts';
import { structuredModel } from '../providers/structured.ts';

/** A request to a scripted model. */
export interface ScriptedRequest {
  /** The number of the request, from 0. Repairs count too. */
  readonly call: number;
  readonly system: string;
  /** The prompt, or for a repair, the instruction what to correct. */
  readonly prompt: string;
}

/** A fake language model, and the requests that it received. */
export interface ScriptedModel {
  readonly model: LanguageModel;
  readonly requests: readonly ScriptedRequest[];
  /** The most requests that were open at once. */
  readonly mostAtOnce: () => number;
}

/**
 * Creates a language model that answers what `script` returns: a text, or a value that is sent as JSON. Answers are parsed, checked
 * and repaired like those of a real model. A token is four bytes. An error thrown by the script is a model failure without retries.
 *
 * @example
 * ```ts
 * import { scriptedModel } from 'salience/testing';
 * const { model, requests } = scriptedModel(() => ({ memories: [] }));
 * await using memory = await openMemory({ path: ':memory:', space: 'test', languageModel: model });
 * await memory.observe([{ role: 'user', content: 'I am allergic to peanuts.' }]);
 * console.log(requests[0]?.prompt);
 * ```
 */
export function scriptedModel(
  script: (request: ScriptedRequest) => string | object | Promise<string | object>,
): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  let open = 0;
  let most = 0;
  const model = structuredModel(
    'scripted',
    async ({ messages, onCall }) => {
      onCall();
      const request = {
        call: requests.length,
        system: messages[0]?.content ?? '',
        prompt: messages.at(-1)?.content ?? '',
      };
      requests.push(request);
      most = Math.max(most, ++open);
      try {
        const answer = await script(request);
        return {
          kind: 'text',
          text: typeof answer === 'string' ? answer : JSON.stringify(answer),
          promptTokens: undefined,
          completionTokens: undefined,
          finish: 'stop',
        };
      } catch (cause) {
        const error = SalienceError.isInstance(cause)
          ? cause
          : new SalienceError('model_failed', `the script failed: ${cause}`, { cause });
        return {
          kind: 'failed',
          temporary: false,
          retryAfterMs: undefined,
          error: () => error,
        };
      } finally {
        open--;
      }
    },
    {},
  );
  return { model, requests, mostAtOnce: () => most };
}
