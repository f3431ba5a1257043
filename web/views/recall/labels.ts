import type { Memory, MemoryEngine } from '../../../src/index.ts';
import { cell } from '../../cell.ts';
import { session } from '../../session.ts';

export type Label = 'good' | 'bad' | 'missing';

/** What a person said of memories as answers to questions: by question, then by the id of the memory. */
export type Labels = Readonly<Record<string, Readonly<Record<string, Label>>>>;

const stored = () => `salience-inspector-labels ${session.get()?.grant.space}`;

/** They stay in this tab, as they hold questions and ids of the space. */
export const labels = cell<Labels>(read());

/** Says what a memory is to a question; said again, it is taken back. */
export function label(query: string, id: string, as: Label): void {
  const { [id]: before, ...others } = labels.get()[query] ?? {};
  const now = before === as ? others : { ...others, [id]: as };
  const { [query]: _, ...rest } = labels.get();
  const next = Object.keys(now).length === 0 ? rest : { ...rest, [query]: now };
  labels.set(next);
  sessionStorage.setItem(stored(), JSON.stringify(next));
}

/**
 * The labels as a dataset that "salience eval" and "salience tune" read: the memories of the space and, for each question,
 * what should be found (good, missing) and what must not (bad).
 */
export async function datasetOf(memory: MemoryEngine, of: Labels, now: Date): Promise<string> {
  const lines: object[] = [];
  const { space } = memory;
  for (const each of await everyMemory(memory)) {
    const { id, content, createdAt, type, author, role } = each;
    lines.push({ kind: 'memory', space, id, content, createdAt, type, author, role });
  }
  for (const [query, judged] of Object.entries(of)) {
    const ids = (wanted: readonly Label[]) =>
      Object.entries(judged).flatMap(([id, each]) => (wanted.includes(each) ? [id] : []));
    lines.push({
      kind: 'query',
      space,
      id: `q${lines.length}`,
      query,
      now: now.toISOString(),
      type: 'labelled',
      relevant: ids(['good', 'missing']),
      mustNot: ids(['bad']),
    });
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

async function everyMemory(memory: MemoryEngine): Promise<readonly Memory[]> {
  const all: Memory[] = [];
  let cursor: string | undefined;
  do {
    const page = await memory.list({ limit: 1000, count: false, cursor });
    all.push(...page.memories);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

function read(): Labels {
  try {
    return JSON.parse(sessionStorage.getItem(stored()) ?? '{}') as Labels;
  } catch {
    return {};
  }
}
