import { AsyncLocalStorage } from 'node:async_hooks';
import { callback, text } from '../domain/check.ts';

const current = new AsyncLocalStorage<string>();

/**
 * Runs work on behalf of a caller that a server has authenticated. Recalls within it that are recorded carry the name, as
 * `caller` of `recalls()`. The server of this package does so by itself, with the name of the token.
 *
 * @param name Shown to everyone who may list recalls, so it must not be a secret.
 * @returns What `work` returns.
 * @throws `invalid_argument`: the name is not a text or is empty, or `work` is not a function.
 *
 * @example
 * ```ts
 * await memory.configure({ recordRecalls: { days: 30, texts: true } });
 * await forCaller('support bot', () => memory.recall('coffee'));
 * const [latest] = await memory.recalls();
 * console.log(latest?.caller); // support bot
 * ```
 */
export function forCaller<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return current.run(text(name, 'name'), callback(work, 'work'));
}

/** Returns the name given to the enclosing {@link forCaller}; `undefined` outside of one. */
export function callerName(): string | undefined {
  return current.getStore();
}
