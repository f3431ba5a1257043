import type { Fields } from './fields.ts';
import { type ImportItem, unusable } from './item.ts';

/** The last line of an export, with the number of memories before it. An export without it was cut off. */
export interface ExportEnd {
  readonly kind: 'end';
  readonly count: number;
}

/** Returns the last line of an export of `count` memories, without its line feed. */
export function exportEnd(count: number): string {
  return JSON.stringify({ kind: 'end', count } satisfies ExportEnd);
}

/** Reads the last line of an export; `undefined` for any other line. */
export function readExportEnd(fields: Fields): ExportEnd | undefined {
  const { kind, count, ...others } = fields;
  const isEnd = kind === 'end' && Number.isSafeInteger(count) && Object.keys(others).length === 0;
  return isEnd ? { kind, count: count as number } : undefined;
}

/**
 * Passes on the items of a file without the ends of exports. Yields an `unusable` item if an export has no end, or not
 * as many memories as its end says. Lines that no export wrote need no end.
 */
export async function* withoutEnds(
  items: AsyncIterable<ImportItem | ExportEnd>,
  name: string,
): AsyncGenerator<ImportItem, void> {
  let count = 0;
  let exported = false;
  for await (const item of items) {
    if (item.kind === 'end') {
      if (item.count !== count)
        yield unusable(
          name,
          `incomplete export: its end says ${item.count}, and there are ${count}; export again`,
        );
      count = 0;
      exported = false;
      continue;
    }
    count++;
    exported ||= item.kind === 'record';
    yield item;
  }
  if (exported)
    yield unusable(
      name,
      'incomplete export: its last line, which counts the memories, is missing; export again',
    );
}
