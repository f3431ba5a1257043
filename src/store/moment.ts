import { SalienceError } from '../domain/errors.ts';

/** How often a snapshot is attempted before it fails. */
export const ATTEMPTS = 3;

/** The error of a snapshot whose space was written to while it was read. {@link again} then retries it. */
export function overtaken(space: string): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(space)} was written to during each of ${ATTEMPTS} attempts to read it at one moment; try again, and run doctor if nobody writes to it`,
    { details: { space, overtaken: true } },
  );
}

/** Calls `attempt`, up to three times while it throws {@link overtaken}. Attempts count from 1. */
export async function again<Result>(attempt: (number: number) => Promise<Result>): Promise<Result> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (number === ATTEMPTS || !isOvertaken(error)) throw error;
    }
  }
}

/**
 * Runs `work` for a store whose reads are separate statements. Reads `moment`, a value that every write changes, before
 * and after. Throws {@link overtaken} if the two differ, whatever `work` returned or threw.
 */
export async function unlessOvertaken<Result>(
  space: string,
  moment: () => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = await moment();
  let outcome: { readonly result: Result } | { readonly error: unknown };
  try {
    outcome = { result: await work() };
  } catch (error) {
    outcome = { error };
  }
  if ((await moment()) !== before) throw overtaken(space);
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

/** Whether this is the error of {@link overtaken}. */
export function isOvertaken(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details?.['overtaken'] === true;
}
