import { liveMemories } from '../../../src/engine/belief/live-memories.ts';
import type { LabelledQuestion, Memory, MemoryEngine } from '../../../src/index.ts';

export type Label = 'good' | 'bad' | 'missing';

/** What a person said of memories as answers to questions: by question, then by the id of the memory. */
export type Labels = Readonly<Record<string, Readonly<Record<string, Label>>>>;

/**
 * The labels as a dataset that "salience eval" and "salience tune" read: the memories that a recall may return and, for each
 * question, what should be found (good, missing) and what must not (bad). Labels of other memories are left out, such as of
 * those that were forgotten or superseded since, and questions of which nothing else is known.
 */
export async function datasetOf(memory: MemoryEngine, of: Labels, now: Date): Promise<string> {
  const lines: object[] = [];
  const { space } = memory;
  const memories = liveMemories(await everyMemory(memory), now.getTime());
  for (const each of memories) {
    const { id, title, content, tags, createdAt, bornIn: session, type, author, role } = each;
    // A dataset has no titles and no tags; their words are searched like those of the content.
    const text = [title, content, ...tags].filter((part) => part !== undefined).join('\n');
    lines.push({ kind: 'memory', space, id, content: text, createdAt, session, type, author, role });
  }
  const ids = new Set(memories.map(({ id }) => id));
  for (const [query, judged] of Object.entries(of)) {
    const answers = idsOf(judged, ['good', 'missing']);
    const relevant = answers.filter((id) => ids.has(id));
    const mustNot = idsOf(judged, ['bad']).filter((id) => ids.has(id));
    // With no answer left it would say that nothing should be found.
    if (relevant.length === 0 && (answers.length > 0 || mustNot.length === 0)) continue;
    lines.push({
      ...{ kind: 'query', space, id: `q${lines.length}`, query, now: now.toISOString(), type: 'labelled' },
      ...{ relevant, mustNot },
    });
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/** The questions without the memories that no recall returns, such as those that were forgotten since they were labelled. */
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

/** The ids of the memories of which one of these was said. */
export function idsOf(judged: Labels[string], wanted: readonly Label[]): readonly string[] {
  return Object.entries(judged).flatMap(([id, each]) => (wanted.includes(each) ? [id] : []));
}

/** In the order in which they were remembered: of equal times it decides which is the earlier turn of a session. */
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
