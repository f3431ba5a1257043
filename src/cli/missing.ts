import { SalienceError } from '../domain/errors.ts';

const ADVICE = '; "salience list" shows the ids';

/** The error for ids that the space does not contain. */
export function missing(ids: readonly string[], space: string): SalienceError {
  const names = ids.map((id) => JSON.stringify(id)).join(', ');
  return new SalienceError(
    'not_found',
    `${ids.length === 1 ? `memory ${names} does` : `memories ${names} do`} not exist in space ${JSON.stringify(space)}${ADVICE}`,
    { details: { ...(ids.length === 1 ? { id: ids[0] } : { ids }), space } },
  );
}

/** Returns the message of an error. If the error is about unknown ids, wherever it was thrown, advice is added. */
export function withAdviceOn({ code, details }: SalienceError, message: string): string {
  const { id, ids, space } = details;
  const isOfMemory = space !== undefined && (id !== undefined || ids !== undefined);
  if (code !== 'not_found' || !isOfMemory || message.endsWith(ADVICE)) return message;
  return / not exist in space "/.test(message) ? `${message}${ADVICE}` : message;
}
