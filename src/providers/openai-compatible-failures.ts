import { SalienceError } from '../domain/errors.ts';
import type { HttpFailure } from './http.ts';
import type { Endpoint } from './openai-compatible-endpoint.ts';
import { quotable, serverMessage } from './server-message.ts';

/** What error messages say about the API that failed. */
export interface Api {
  readonly code: 'embedder_failed' | 'model_failed';
  readonly name: string;
  /** How to make one answer quicker and shorter. */
  readonly askForLess: string;
}

/**
 * The error of a request without an answer. It says what to do, and contains neither the key nor any of the `sent`
 * texts.
 */
export function failureOf(
  failure: HttpFailure & { readonly attempts: number },
  server: Endpoint & { readonly requestDimensions?: boolean | undefined },
  api: Api,
  sent: readonly string[],
): SalienceError {
  const { address, model } = server;
  const confidential = { secrets: server.key ? [server.key] : [], texts: sent };
  const tries = failure.attempts === 1 ? '' : ` ${failure.attempts} times`;
  const fail = (message: string, status?: number) =>
    new SalienceError(api.code, message, {
      details: {
        url: address,
        model,
        attempts: failure.attempts,
        ...(status === undefined ? {} : { status }),
      },
    });
  switch (failure.kind) {
    case 'unreachable': {
      const question = isThisMachine(server.url)
        ? 'is the server running? e.g. `ollama serve`'
        : 'is the address right, and the server reachable from here?';
      return fail(`${address} failed${tries} (${quotable(failure.reason, confidential)}): ${question}`);
    }
    case 'timeout':
      return fail(
        `${address} gave no whole answer within ${failure.timeoutMs} ms${tries}: raise timeoutMs (a model's first start can take long), or ${api.askForLess}`,
      );
    case 'redirect':
      return fail(
        `${address} redirects${failure.location ? ` to ${quotable(failure.location, confidential)}` : ''}, which is not followed so that the key and the texts stay where they belong: correct baseUrl`,
        failure.status,
      );
    case 'too_large':
      return fail(
        `${address} answered with more than ${failure.maxResponseBytes} bytes: ${api.askForLess}, or raise maxResponseBytes`,
      );
    case 'not_json':
      return fail(
        /^\s*</.test(failure.body)
          ? `${address} answered with a web page, not JSON: correct baseUrl, which usually ends in /v1`
          : `${address} answered with something that is not valid JSON, or is cut off: is there a server with OpenAI's ${api.name} behind it?`,
      );
    case 'status':
      return fail(statusMessage(failure, server, api, confidential, tries), failure.status);
  }
}

/** The error of an answer that cannot be used. `problem` continues the sentence "the answer of … ". */
export function brokenAnswer(server: Endpoint, api: Api, problem: string): SalienceError {
  return new SalienceError(api.code, `the answer of ${server.model} at ${server.address} ${problem}`, {
    details: { url: server.address, model: server.model },
  });
}

function statusMessage(
  { status, body, retryAfterMs }: HttpFailure & { kind: 'status' },
  { address, model, key, keySource, requestDimensions }: Parameters<typeof failureOf>[1],
  api: Api,
  confidential: Parameters<typeof serverMessage>[1],
  tries: string,
): string {
  if (status === 401) {
    // The server's message about a key may contain parts of the key.
    return key === undefined
      ? `${address} requires a key (401), and there is none in ${keySource}`
      : `${address} refuses the key in ${keySource} (401): is it the right one, and still valid?`;
  }
  const message = serverMessage(body, confidential);
  const said = message === '' ? '' : ` The server says: ${message}`;
  switch (status) {
    case 403:
      return `${address} does not allow this (403) with the key in ${keySource}.${said}`;
    case 404:
    case 405:
      return `${address} has no model ${JSON.stringify(model)}, or does not serve the ${api.name} (${status}): load the model, with Ollama \`ollama pull ${model}\`, or correct baseUrl, which usually ends in /v1.${said}`;
    case 429: {
      const wait = retryAfterMs === undefined ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
      return `${address} refused${tries || ' the request'} because of too many requests (429)${wait}: lower concurrency, or try again later.${said}`;
    }
  }
  if (status === 408 || status >= 500) {
    return `${address} failed${tries} with status ${status}: look into the server's log.${said}`;
  }
  const hint =
    requestDimensions && (status === 400 || status === 422)
      ? ': leave requestDimensions out if the model cannot shorten its vectors'
      : '';
  return `${address} refused the request (${status})${hint}.${said}`;
}

function isThisMachine({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
