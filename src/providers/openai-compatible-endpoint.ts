import { invalidArgument } from '../domain/check.ts';

/** The server of an adapter, with its model and key. */
export interface Endpoint {
  readonly url: URL;
  /** The URL as messages show it. */
  readonly address: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Where the key was looked for, for messages. */
  readonly keySource: string;
}

/** The options for the key of a server. */
export interface KeyOptions {
  readonly apiKey?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
}

/** Appends `path` to a base URL. Throws `invalid_argument`. */
export function endpointUrl(baseUrl: string, path: string): URL {
  // The message does not repeat the value, because a URL can contain a password.
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl) || !/^https?:\/\//i.test(baseUrl.trim())) {
    throw invalidArgument('baseUrl', 'expected a complete URL, such as http://127.0.0.1:11434/v1');
  }
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '') {
    throw invalidArgument('baseUrl', 'it must not hold a user or password: hand the key over as apiKey');
  }
  url.hash = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}

/** Finds the key for a server. `OPENAI_API_KEY` is used only for OpenAI's host, `variable` for every other. */
export function findKey(
  options: KeyOptions,
  url: URL,
  variable: string,
): Pick<Endpoint, 'key' | 'keySource'> {
  const name = options.apiKeyEnv ?? (url.hostname === 'api.openai.com' ? 'OPENAI_API_KEY' : variable);
  const given = options.apiKey !== undefined;
  const keySource = given ? 'the option apiKey' : `the environment variable ${name}`;
  const key = (given ? options.apiKey : process.env[name])?.trim() ?? '';
  // The error of `fetch` for an invalid header would repeat the key.
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw invalidArgument(
      'apiKey',
      `the key in ${keySource} holds spaces or characters other than plain ASCII: copy it again`,
    );
  }
  return { key: key === '' ? undefined : key, keySource };
}
