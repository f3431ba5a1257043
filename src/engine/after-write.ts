import { SalienceError } from '../domain/errors.ts';
import { onBehalf } from '../store/cancelling.ts';

const ATTEMPTS = 3;

/**
 * Reads what is told of a write that was committed. It is done, so a caller who gives up is told of it too, and a connection
 * that is lost is no reason to say that it failed. What cannot be read all the same is an error with `details.written`.
 */
export async function readAfterWrite<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await onBehalf(undefined, read);
    } catch (error) {
      if (!SalienceError.isInstance(error)) throw error;
      if (attempt < ATTEMPTS && (error.code === 'store_failed' || error.code === 'store_busy')) continue;
      throw new SalienceError(
        error.code,
        `this was written, but the result could not be read: ${error.message}; read the data, and do not write it again`,
        { details: { ...error.details, written: true }, cause: error },
      );
    }
  }
}
