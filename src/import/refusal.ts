import { SalienceError, type SalienceErrorCode } from '../domain/errors.ts';

/** Codes of errors about one item. All others are about the store, the embedder or the caller. */
const refusals: ReadonlySet<SalienceErrorCode> = new Set<SalienceErrorCode>([
  'invalid_argument',
  'invalid_text',
  'invalid_time',
  'invalid_scope',
  'content_too_large',
  // A memory that it supersedes does not exist.
  'not_found',
  // A memory has its id already, and the token must not see or change that one.
  'already_exists',
  'forbidden',
]);

/** Whether the error is about one item of an import, so that the others can still be written. */
export function isRefusal(error: unknown): error is SalienceError {
  return SalienceError.isInstance(error) && refusals.has(error.code);
}
