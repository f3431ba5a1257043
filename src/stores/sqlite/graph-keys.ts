import type { MemoryRecord } from '../../domain/memory.ts';
import { endsOf, namesOfEntity, relationIds, type Triple } from '../../domain/relation.ts';
import type { Connection } from './connection.ts';
import { text } from './rows.ts';

type Keyed = Pick<MemoryRecord, 'type' | 'title'> & {
  readonly aliases?: readonly string[] | undefined;
  readonly relations?: readonly Triple[] | undefined;
};

/** Indexes the names of an entity and the ends of a memory's relations, in the place of what there was before. */
export function writeGraphKeys(
  connection: Connection,
  row: number,
  memory: Keyed,
  before: Keyed | undefined,
): void {
  const keys = graphKeysOf(memory);
  const old = before === undefined ? [] : graphKeysOf(before);
  if (JSON.stringify(keys) === JSON.stringify(old)) return;
  if (old.length > 0) connection.run('DELETE FROM graph_key WHERE row = ?', row);
  for (const [part, value] of keys) {
    connection.run('INSERT INTO graph_key (part, value, row) VALUES (?, ?, ?)', part, text(value, part), row);
  }
}

/** The parts and values by which a memory is found. */
export function graphKeysOf(memory: Keyed): readonly (readonly ['name' | 'end' | 'relation', string])[] {
  return [
    ...namesOfEntity(memory).map((value) => ['name', value] as const),
    ...endsOf(memory.relations).map((value) => ['end', value] as const),
    ...relationIds(memory.relations).map((value) => ['relation', value] as const),
  ];
}
