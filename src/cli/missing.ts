import { SalienceError } from '../model/errors.ts';

/** The error of an id that the space does not hold. */
export function missing(id: string, space: string): SalienceError {
  return new SalienceError(
    'not_found',
    `there is no memory ${JSON.stringify(id)} in space ${JSON.stringify(space)}; salience list shows what there is`,
    { details: { id, space } },
  );
}
