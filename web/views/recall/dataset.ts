import { liveMemories } from '../../../src/engine/belief/live-memories.ts';
import type { LabelledQuestion, Memory, MemoryEngine } from '../../../src/index.ts';

export type Label = 'good' | 'bad' | 'missing';

/** The labels of memories as answers to questions, by question and then by id of the memory. */
export type Labels = Readonly<Record<string, Readonly<Record<string, Label>>>>;

/**
 * Converts labels to a dataset for "salience eval" and "salience tune": the memories that a recall may return and, for
 * each question, those to find (good, missing) and those not to return (bad). Labels of memories that a recall can no
 * longer return, because they were forgotten or superseded, are left out, and so are questions whose labels or answers
 * are all gone.
 */
export async function datasetOf(memory: MemoryEngine, of: Labels, now: Date): Promise<string> {
  const lines: object[] = [];
  const { space } = memory;
  const memories = liveMemories(await everyMemory(memory), now.getTime());
  for (const each of memories) {
    const { id, title, content, tags, createdAt, bornIn: session, type, author, role } = each;
    // A dataset has no titles and tags, so they are added to the content, where their words are searched too.
    const text = [title, content, ...tags].filter((part) => part !== undefined).join('\n');
    lines.push({ kind: 'memory', space, id, content: text, createdAt, session, type, author, role });
  }
  const ids = new Set(memories.map(({ id }) => id));
  for (const [query, judged] of Object.entries(of)) {
    const answers = idsOf(judged, ['good', 'missing']);
    const relevant = answers.filter((id) => ids.has(id));
    const mustNot = idsOf(judged, ['bad']).filter((id) => ids.has(id));
    // Without an answer, the dataset would say that nothing should be found.
    if (relevant.length === 0 && (answers.length > 0 || mustNot.length === 0)) continue;
    lines.push({
      ...{ kind: 'query', space, id: `q${lines.length}`, query, now: now.toISOString(), type: 'labelled' },
      ...{ relevant, mustNot },
    });
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/** Removes memories from the questions that no recall returns any more, such as forgotten ones. */
export async function withoutGone(
  memory: MemoryEngine,
  questions: readonly LabelledQuestion[],
  now: Date,
): Promise<readonly LabelledQuestion[]> {
  const live = new Set(liveMemories(await everyMemory(memory), now.getTime()).map(({ id }) => id));
  return questions
    .map(({ query, relevant }) => ({ query, relevant: relevant.filter((id) => live.has(id)) }))
    .filter(({ relevant }) => relevant.length > 0);
}

/** Returns the ids of the memories with one of the wanted labels. */
export function idsOf(judged: Labels[string], wanted: readonly Label[]): readonly string[] {
  return Object.entries(judged).flatMap(([id, each]) => (wanted.includes(each) ? [id] : []));
}

/**
 * Returns all memories in the order in which they were remembered, which decides the order of turns with equal times.
 */
async function everyMemory(memory: MemoryEngine): Promise<readonly Memory[]> {
  const all: Memory[] = [];
  let cursor: string | undefined;
  do {
    const page = await memory.list({ limit: 1000, sort: 'inserted', count: false, cursor });
    all.push(...page.memories);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}
