import { SalienceError } from '../domain/errors.ts';
import type { MemoryEngine } from '../index.ts';

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

/** Asks about a query and a memory. If the memory is unknown because the two were given in the other order, says so. */
export async function askAbout<Answer>(
  memory: MemoryEngine,
  query: string,
  id: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const isUnknown = SalienceError.isInstance(error) && error.code === 'not_found';
    if (!isUnknown || !(await memory.get(query))) throw error;
    const [first, second] = [JSON.stringify(query), JSON.stringify(id)];
    const message = `memory ${second} does not exist, but ${first} does: the query comes first, then the id`;
    throw new SalienceError('not_found', message, { details: error.details, cause: error });
  }
}
