import { type DocumentFormat, partsOfList } from './document-format.ts';
import { fieldsOf, isFields, listOf } from './fields.ts';
import { type ImportItem, type SourceOptions, unusable } from './item.ts';
import { isRecord, readRecord } from './json-lines.ts';

/**
 * The output of commands that print memories with `--json`. The output of `history` is not read: it holds earlier
 * versions of memories, which would be imported as if they were current.
 */
export const answer: DocumentFormat = {
  holds:
    'the memories that a command printed with --json: get, list, recall, compare, context, bootstrap, pinned, timeline or beliefs (history holds former versions only; salience export writes what can be imported)',
  recognises: (document) => {
    const [first] = memoriesIn(document) ?? [];
    return isFields(first) && isRecord(first);
  },
  partsOf(document) {
    const memories = memoriesIn(document);
    return memories && partsOfList(memories, 'memories', readMemory);
  },
};

function memoriesIn(document: unknown): readonly unknown[] | undefined {
  const fields = fieldsOf(document);
  if (isRecord(fields)) return [fields];
  const { memories, hits, items, beliefs, rankings, memory } = fields;
  if (Array.isArray(memories)) return memories;
  const holders = [hits, items, beliefs].find(Array.isArray);
  if (holders) return holders.map(memoryOf);
  if (Array.isArray(rankings)) {
    // Several strategies may find the same memory.
    const found = rankings.flatMap((ranking) => listOf(fieldsOf(ranking)['hits']).map(memoryOf));
    return [...new Map(found.map((each) => [fieldsOf(each)['id'], each])).values()];
  }
  if (memory === undefined || !('before' in fields && 'after' in fields)) return undefined;
  return [...listOf(fields['before']), memory, ...listOf(fields['after'])];
}

const memoryOf = (holder: unknown) => fieldsOf(holder)['memory'];

function readMemory(value: unknown, where: string, options: SourceOptions): readonly ImportItem[] {
  return [
    isFields(value) && isRecord(value)
      ? readRecord(value, where, options)
      : unusable(where, 'is not a memory'),
  ];
}
