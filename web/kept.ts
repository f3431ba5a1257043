import { cell } from './cell.ts';
import { session, signOut } from './session.ts';

/** What begins the names of labels in the browser's storage. */
export const LABELS = 'salience-inspector-labels ';

/** Where the labels of a space are kept. */
export function labelsKey(space: string): string {
  return LABELS + space;
}

/** How many questions are labelled in this browser for a space. */
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

/** How many memories have changes that were typed and not saved. They are in this page alone. */
export const unsavedCount = cell(0);

/** How many questions are labelled, while somebody is asked what becomes of them. */
export const leaving = cell(0);

/** Signs out; asks first where something would stay behind in the browser. */
export function leave(): void {
  const space = session.get()?.grant.space;
  const count = space === undefined ? 0 : countLabels(space);
  if (count > 0) leaving.set(count);
  else signOut();
}
