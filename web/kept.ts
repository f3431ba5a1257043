import { cell } from './cell.ts';
import { session, signOut } from './session.ts';

/** The prefix of the keys of labels in the browser's storage. */
export const LABELS = 'salience-inspector-labels ';

/** Returns the storage key of the labels of a space. */
export function labelsKey(space: string): string {
  return LABELS + space;
}

/** Counts the questions that are labelled in this browser for a space. */
function countLabels(space: string): number {
  try {
    return Object.keys(JSON.parse(localStorage.getItem(labelsKey(space)) ?? '{}')).length;
  } catch {
    return 0;
  }
}

export function forgetLabels(space: string): void {
  localStorage.removeItem(labelsKey(space));
}

/** How many memories have unsaved edits, which exist only in this page. */
export const unsavedCount = cell(0);

/** The number of labelled questions while the sign-out dialog is open, else 0. */
export const leaving = cell(0);

/** Signs out. Asks first if labels would stay behind in the browser. */
export function leave(): void {
  const space = session.get()?.grant.space;
  const count = space === undefined ? 0 : countLabels(space);
  if (count > 0) leaving.set(count);
  else signOut();
}
