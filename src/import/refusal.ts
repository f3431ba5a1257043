import { SalienceError, type SalienceErrorCode } from '../domain/errors.ts';

/** Errors about one item; all others are about the store, the embedder or the caller. */
const refusals: ReadonlySet<SalienceErrorCode> = new Set<SalienceErrorCode>([
  'invalid_argument',
  'invalid_text',
  'invalid_time',
  'invalid_scope',
  'content_too_large',
  // What it supersedes is not there.
  'not_found',
  // Its id is that of a memory that a token of some scopes does not see, or sees and may not change.
  'already_exists',
  'forbidden',
]);

/** Whether one item of an import is to blame: the others can be written. */
export function isRefusal(error: unknown): error is SalienceError {
  return SalienceError.isInstance(error) && refusals.has(error.code);
}
