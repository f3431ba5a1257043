import { SalienceError } from '../domain/errors.ts';
import { isDone, notingWrites, withoutUnchanged } from '../domain/written.ts';

/**
 * Runs work that consists of several writes. If it fails after some of them, the error begins with `stays`, which says so and how to
 * go on: the error of a store is about one write, and may say that nothing was changed, or not to write again what was written.
 */
export async function tellingPart<Result>(stays: string, work: () => Promise<Result>): Promise<Result> {
  const written = { isWritten: false };
  try {
    return await notingWrites(written, work);
  } catch (error) {
    // An error that says that bytes are not erased yet is about the whole work, and says what to do.
    const isWhole =
      !SalienceError.isInstance(error) || error.code === 'aborted' || error.details['erased'] === false;
    if (isWhole || !written.isWritten) throw error;
    const reason = isDone(error) && SalienceError.isInstance(error.cause) ? error.cause : error;
    const { code, details, cause } = reason;
    throw new SalienceError(code, `${stays}: ${withoutUnchanged(reason)}`, { details, cause });
  }
}
