import { SalienceError, type SalienceErrorCode } from '../index.ts';

/** What a caller from outside may learn of an error. */
export interface Failure {
  readonly code: SalienceErrorCode | 'internal';
  readonly message: string;
  /**
   * Whether the caller can fix it. Otherwise the message reveals nothing internal, and the operator needs the error.
   */
  readonly mendable: boolean;
}

/** Codes whose messages are about the caller's input. Messages of other codes may name files, servers and models. */
const mendable: ReadonlySet<SalienceErrorCode> = new Set([
  'invalid_argument',
  'invalid_text',
  'content_too_large',
  'invalid_time',
  'invalid_scope',
  'blank_query',
  'unknown_strategy',
  'invalid_parameter',
  'missing_signal',
  'not_found',
  'already_exists',
  'cannot_undo',
  'redacted',
  'forbidden',
  'aborted',
]);

export function failureOf(error: unknown): Failure {
  if (!SalienceError.isInstance(error)) {
    return {
      code: 'internal',
      message: 'an unexpected fault; details are in the log of the server',
      mendable: false,
    };
  }
  const { code, message } = error;
  if (mendable.has(code)) return { code, message, mendable: true };
  return { code, message: outcomeOf(error)?.message ?? explained[code] ?? unmendable, mendable: false };
}

/** What the caller must know about a failed write even if the error itself is hidden. */
export interface Outcome {
  readonly message: string;
  readonly details: { readonly written: true; readonly erased?: false } | { readonly inDoubt: true };
}

/** Says whether a failed request was written all the same, or may have been; `undefined` if neither. */
export function outcomeOf(error: unknown): Outcome | undefined {
  const { written, erased, inDoubt } = SalienceError.isInstance(error) ? error.details : {};
  if (written === true && erased === false)
    return {
      message:
        'this is forgotten and no recall finds it, but its bytes are not erased yet; forget it again in a while',
      details: { written, erased },
    };
  if (written === true)
    return {
      message: 'this was written, but the result could not be read; read the data, and do not write it again',
      details: { written },
    };
  if (inDoubt === true)
    return {
      message: 'it is unknown whether this was written; read the data before you write it again',
      details: { inDoubt },
    };
  return undefined;
}

const unmendable = 'the memory cannot do this now; the reason is in its log';
const explained: Partial<Readonly<Record<SalienceErrorCode, string>>> = {
  store_busy: 'another process is writing; try again in a moment',
  store_read_only: 'only reading is allowed here; nothing was written',
  too_many_spaces: 'too many spaces are in use; try again in a moment',
  space_too_large: 'the memory is too large for this server; its operator can raise the limit',
  closed: 'the memory is shutting down; nothing was written',
};

/**
 * Formats an error for a log. Of an unexpected error only name and stack frames are kept: its message may contain text
 * of a memory.
 */
export function logLineOf(error: unknown): string {
  if (SalienceError.isInstance(error)) return `${error.code}: ${error.message}`;
  if (!(error instanceof Error)) return 'internal: something was thrown that is not an error';
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return [`internal: ${error.name}`, ...frames].join('\n');
}
