import type { LabelledQuestion } from '../../../src/index.ts';
import { cell } from '../../cell.ts';
import { forgetLabels, LABELS, labelsKey } from '../../kept.ts';
import { tellFailure } from '../../parts/toast.tsx';
import { session } from '../../session.ts';
import { idsOf, type Label, type Labels } from './dataset.ts';

/** The labels of the space. They are stored in this browser, as questions and ids but without texts of memories. */
export const labels = cell<Labels>(read());
// Read again for another space, and when another tab has changed them.
session.subscribe(() => labels.set(read()));
addEventListener('storage', ({ key }) => {
  if (key === null || key.startsWith(LABELS)) labels.set(read());
});

/** Labels a memory for a question. The same label again removes it. */
export function label(query: string, id: string, as: Label): void {
  const { [id]: before, ...others } = read()[query] ?? {};
  const now = before === as ? others : { ...others, [id]: as };
  const { [query]: _, ...rest } = read();
  const next = Object.keys(now).length === 0 ? rest : { ...rest, [query]: now };
  keep(next);
}

/** Returns the memories to find for each question that has any. */
export function questionsOf(of: Labels): readonly LabelledQuestion[] {
  return Object.entries(of)
    .map(([query, judged]) => ({ query, relevant: idsOf(judged, ['good', 'missing']) }))
    .filter(({ relevant }) => relevant.length > 0);
}

/**
 * Adds the labels of a file that was saved here, or of any dataset about this space, to the current ones. Throws an
 * error that says what is wrong with the file. Returns the number of its questions.
 */
export function openLabels(content: string): number {
  const space = session.get()?.grant.space;
  const opened: Record<string, Labels[string]> = {};
  for (const [at, line] of content.split('\n').entries()) {
    if (line.trim() === '') continue;
    const entry = parseLine(line, at + 1);
    if (entry['kind'] !== 'query' || entry['space'] !== space) continue;
    const { query, relevant, mustNot } = entry;
    if (typeof query !== 'string') throw new Error(`line ${at + 1} has no query`);
    const as = (ids: unknown, label: Label) =>
      Array.isArray(ids) ? ids.map((id) => [String(id), label] as const) : [];
    opened[query] = Object.fromEntries([...as(relevant, 'good'), ...as(mustNot, 'bad')]);
  }
  const count = Object.keys(opened).length;
  if (count === 0) throw new Error(`the file has no questions about the space ${space}`);
  keep({ ...read(), ...opened });
  return count;
}

function parseLine(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null) return entry as Readonly<Record<string, unknown>>;
  } catch {
    // Told below.
  }
  throw new Error(`line ${number} is not a JSON object: open a dataset, one JSON object a line`);
}

/** Removes all labels of the space. Returns a function that restores them and keeps those set since. */
export function clear(): () => Promise<void> {
  const space = session.get()?.grant.space;
  const before = read();
  keep({});
  return async () => {
    if (session.get()?.grant.space !== space)
      throw new Error(`The labels are of the space ${space}: sign in to it.`);
    const since = read();
    const both = Object.entries(before).map(([query, judged]) => [query, { ...judged, ...since[query] }]);
    keep({ ...since, ...Object.fromEntries(both) });
  };
}

function keep(next: Labels): void {
  labels.set(next);
  const space = session.get()?.grant.space;
  if (space === undefined) return;
  if (Object.keys(next).length === 0) {
    forgetLabels(space);
    return;
  }
  try {
    localStorage.setItem(labelsKey(space), JSON.stringify(next));
  } catch {
    tellFailure(new Error('This browser has no room for more labels: save them as a dataset.'));
  }
}

function read(): Labels {
  const space = session.get()?.grant.space;
  if (space === undefined) return {};
  try {
    return JSON.parse(localStorage.getItem(labelsKey(space)) ?? '{}') as Labels;
  } catch {
    return {};
  }
}
