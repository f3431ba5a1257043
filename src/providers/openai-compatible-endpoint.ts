import { invalidArgument } from '../domain/check.ts';

/** Where an adapter sends its requests, and as whom. */
export interface Endpoint {
  readonly url: URL;
  /** The address as messages show it. */
  readonly address: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Where the key was looked for, in words. */
  readonly keySource: string;
}

/** How an adapter finds the key of its server. */
export interface KeyOptions {
  readonly apiKey?: string | undefined;
  readonly apiKeyEnv?: string | undefined;
}

/** The address of `path` under a base address. Throws `invalid_argument`. */
export function endpointUrl(baseUrl: string, path: string): URL {
  // The value itself is not repeated: an address can hold a password.
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

/** The key for a server: OpenAI's variable for OpenAI's host alone, `variable` for every other. */
export function findKey(
  options: KeyOptions,
  url: URL,
  variable: string,
): Pick<Endpoint, 'key' | 'keySource'> {
  const name = options.apiKeyEnv ?? (url.hostname === 'api.openai.com' ? 'OPENAI_API_KEY' : variable);
  const given = options.apiKey !== undefined;
  const keySource = given ? 'the option apiKey' : `the environment variable ${name}`;
  const key = (given ? options.apiKey : process.env[name])?.trim() ?? '';
  // What fetch says of a header that it cannot send repeats the key.
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw invalidArgument(
      'apiKey',
      `the key in ${keySource} holds spaces or characters other than plain ASCII: copy it again`,
    );
  }
  return { key: key === '' ? undefined : key, keySource };
}
