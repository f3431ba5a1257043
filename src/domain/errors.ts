import { describe } from './describe.ts';

/** The machine-readable kind of an error. Codes are stable; messages are for people and may change. */
export type SalienceErrorCode =
  /** An argument is out of range, of the wrong kind or missing; `details.field` names it. */
  | 'invalid_argument'
  /** A text holds a lone surrogate or a control character. */
  | 'invalid_text'
  /** A content or metadata is larger than the configured limit; `details` has field, bytes and limit. */
  | 'content_too_large'
  /** A time is not ISO 8601. */
  | 'invalid_time'
  | 'invalid_space_name'
  | 'invalid_scope'
  /** A query has nothing to search for. */
  | 'blank_query'
  | 'unknown_strategy'
  /** A scoring profile that cannot be used; `details.path` names the place in it. */
  | 'invalid_profile'
  /** A parameter that the profile does not have, or a value outside its type or range. */
  | 'invalid_parameter'
  /** A formula needs a signal that was not given and has no default. */
  | 'missing_signal'
  | 'non_finite_score'
  /** Two scores of different strategies, profiles or parameters were compared. */
  | 'incomparable_scores'
  /** A node of an explanation does not follow from its recorded inputs; `details.path` names it. */
  | 'explanation_mismatch'
  | 'unknown_embedder'
  /** The embedder's server failed, timed out or returned an invalid response. */
  | 'embedder_failed'
  /** The vectors in the store come from another model than the one that is configured. */
  | 'embedder_mismatch'
  /** The space has other settings than it is opened with; `details.setting` names one. */
  | 'settings_mismatch'
  /** The language model's server failed, timed out or declined, or a call's budget was too small. */
  | 'model_failed'
  /** The language model's answer could not be parsed, even after the model was told what was wrong. */
  | 'model_invalid_output'
  | 'not_found'
  | 'already_exists'
  | 'cannot_undo'
  /** The requested memory was forgotten, and its text permanently removed. */
  | 'redacted'
  /** The file is not a store of this engine, or belongs to another space. */
  | 'not_a_store'
  /** The store was written by a newer version. */
  | 'newer_store'
  | 'store_read_only'
  | 'store_full'
  | 'store_busy'
  | 'store_corrupt'
  /** The file was deleted, moved or replaced while it was open, so that writes to it would be lost. */
  | 'store_replaced'
  /** With `details.unavailable` its database could not be reached: try again when it is back. */
  | 'store_failed'
  /** The maximum number of spaces is open, and all of them are in use. */
  | 'too_many_spaces'
  /**
   * The index of a space needs more memory than the limit for all indexes (`details` has `bytes` and the limit), or more
   * than the process can allocate.
   */
  | 'space_too_large'
  /** The resource was used after `close()`. */
  | 'closed'
  | 'aborted'
  | 'unreadable_file'
  /** A file could not be written. */
  | 'unwritable_file'
  /** The server requires a token, or the token is unknown. */
  | 'unauthorized'
  /** The token, or the origin of the request, does not permit this. */
  | 'forbidden'
  | 'rate_limited'
  /** A request took too long; with `details.unavailable` it was one to the database of the store. */
  | 'timed_out'
  /** The memory has changed since it was read. Read it again. */
  | 'precondition_failed'
  /** An idempotency key was already used for another request. */
  | 'idempotency_conflict'
  /** A server cannot be reached, failed, or returned an invalid response. */
  | 'server_failed'
  /** The operation is not supported here: by this client or server, or because an optional package is missing. */
  | 'unsupported';

const brand: unique symbol = Symbol.for('salience.error') as never;

/**
 * The one error class of the engine. Match on `code`, never on the message.
 *
 * @example
 * ```ts
 * try {
 *   await memory.update('no-such-id', { importance: 1 });
 * } catch (error) {
 *   if (!SalienceError.isInstance(error)) throw error;
 *   console.log(error.code, error.details['id']); // not_found no-such-id
 * }
 * ```
 */
export class SalienceError extends Error {
  readonly code: SalienceErrorCode;
  /** Plain data about the failure: field, path, limit, operands. Never a secret, never a memory's text. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: SalienceErrorCode,
    message: string,
    options: { readonly details?: Readonly<Record<string, unknown>>; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SalienceError';
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether `value` is an error of this engine, also when two copies of the package are loaded. */
  static isInstance(value: unknown): value is SalienceError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}

/**
 * Returns the message of a caught value, which need not be an `Error`: callers' code may throw anything. Uses only the
 * message or code of an object, since its other properties may hold secrets.
 */
export function messageOf(error: unknown): string {
  if (typeof error === 'string' && error !== '') return error;
  const { message, code } = Object(error) as Readonly<Record<string, unknown>>;
  const said = [message, code].find((text) => typeof text === 'string' && text !== '');
  if (said !== undefined) return said as string;
  return `${error instanceof Error ? error.name : describe(error)} was thrown, with no message`;
}

/**
 * Returns the error for a function of the caller, such as a clock, that threw: `invalid_argument` naming the function. An
 * error of this engine stays as it is.
 */
export function thrownBy(field: string, cause: unknown): SalienceError {
  if (SalienceError.isInstance(cause)) return cause;
  return new SalienceError('invalid_argument', `${field}: it failed: ${messageOf(cause)}`, {
    details: { field },
    cause,
  });
}

/** The default message of the error of an aborted operation. */
export const ABORTED = 'the operation was aborted by its signal';

/** Throws `aborted` if `signal` is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new SalienceError('aborted', ABORTED, { cause: signal.reason });
  }
}
