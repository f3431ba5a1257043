import { type DocumentFormat, partsOfList } from './document-format.ts';
import { fieldsOf, isFields, listOf } from './fields.ts';
import { type ImportItem, type SourceOptions, unusable } from './item.ts';
import { isRecord, readRecord } from './json-lines.ts';

/** What commands that show memories print with `--json`: the memories of `list`, the hits of `recall`, that of `get`. */
export const answer: DocumentFormat = {
  holds: 'what list, recall or get print with --json, with "memories", "hits" or one memory',
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
  if (Array.isArray(fields['memories'])) return fields['memories'];
  return Array.isArray(fields['hits'])
    ? listOf(fields['hits']).map((hit) => fieldsOf(hit)['memory'])
    : undefined;
}

function readMemory(value: unknown, where: string, _: SourceOptions): readonly ImportItem[] {
  return [isFields(value) && isRecord(value) ? readRecord(value, where) : unusable(where, 'is no memory')];
}
