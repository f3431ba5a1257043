import { SalienceError } from '../domain/errors.ts';

/** The error of an id that the space does not hold. */
export function missing(id: string, space: string): SalienceError {
  return new SalienceError(
    'not_found',
    `memory ${JSON.stringify(id)} does not exist in space ${JSON.stringify(space)}; "salience list" shows the ids`,
    { details: { id, space } },
  );
}
