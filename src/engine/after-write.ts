import { SalienceError } from '../domain/errors.ts';
import { withoutUnchanged } from '../domain/written.ts';
import { onBehalf } from '../store/cancelling.ts';

const ATTEMPTS = 3;

/**
 * Reads the result of a committed write. The signal of the caller is ignored and a lost connection is retried, because
 * the write must not be reported as failed. If the result still cannot be read, the error has `details.written`.
 */
export async function readAfterWrite<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await onBehalf(undefined, read);
    } catch (error) {
      if (!SalienceError.isInstance(error)) throw error;
      if (attempt < ATTEMPTS && (error.code === 'store_failed' || error.code === 'store_busy')) continue;
      // A store says that a statement that failed changed nothing. That is true of the read, but not of the write.
      const reason = withoutUnchanged(error);
      throw new SalienceError(
        error.code,
        `this was written, but the result could not be read: ${reason}; read the data, and do not write it again`,
        { details: { ...error.details, written: true }, cause: error },
      );
    }
  }
}
