import { SalienceError } from '../domain/errors.ts';

/** The error of every call to a resource after `close()`. */
export function closedError(what: string): SalienceError {
  return new SalienceError('closed', `${what} is closed; open it again to use it`);
}

/** `space` is the space that was opened read-only. Default is all of them. */
export function openedReadOnly(space?: string): SalienceError {
  return new SalienceError(
    'store_read_only',
    space === undefined
      ? 'the spaces were opened read-only; open them without readOnly to write'
      : `space ${JSON.stringify(space)} was opened read-only; open it without readOnly to write`,
    { details: space === undefined ? {} : { space } },
  );
}

export function missingSpace(space: string, known: readonly string[]): SalienceError {
  const names = known.map((each) => JSON.stringify(each)).join(', ');
  return new SalienceError(
    'not_found',
    `space ${JSON.stringify(space)} does not exist (available: ${names || 'none yet'})`,
    { details: { space } },
  );
}

export function missingMemory(id: string): SalienceError {
  return new SalienceError('not_found', `memory ${JSON.stringify(id)} does not exist in this space`, {
    details: { id },
  });
}

export function memoryExists(id: string): SalienceError {
  return new SalienceError(
    'already_exists',
    `memory ${JSON.stringify(id)} exists already; update it, or use another id`,
    { details: { id } },
  );
}

export type UndoProblem = 'unknown' | 'undo' | 'redacted' | 'undone';

const undoProblems: Readonly<Record<UndoProblem, string>> = {
  unknown: 'no operation has this sequence',
  undo: 'it is itself an undo',
  redacted: 'a memory in it was forgotten, and what is forgotten is gone',
  undone: 'it is undone already',
};

export function cannotUndo(operation: number, problem: UndoProblem): SalienceError {
  return new SalienceError(
    'cannot_undo',
    `operation ${operation} cannot be undone: ${undoProblems[problem]}; operations lists those that can`,
    { details: { operation, problem } },
  );
}

export function anotherCopy(space: string, cause?: unknown): SalienceError {
  return new SalienceError(
    'store_busy',
    `another process copies or restores into the space ${JSON.stringify(space)}; wait for it, or stop it and try again: what was copied stays`,
    { details: { space }, cause },
  );
}
