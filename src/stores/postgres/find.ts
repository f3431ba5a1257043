import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName, tripleOf } from '../../domain/relation.ts';
import { normalisedContent } from '../../domain/statement.ts';
import { isStorable } from '../../domain/wellformed.ts';
import { compareCreated } from '../../store/comparison.ts';
import { contentKey } from '../../store/content-key.ts';
import type { FindBy } from '../../store/store.ts';
import { fullContent } from '../../store/tiers.ts';
import { EVENT_COLUMNS, eventOf } from './events.ts';
import type { Moment } from './moment.ts';
import { fromRow, memoriesWhere, RECORD_COLUMNS } from './rows.ts';
import { type Sql, sql, wantedNumber, wantedNumbers, wantedTexts } from './sql.ts';

/** See `SpaceReader.find`. */
export async function findMemories(
  moment: Moment,
  by: FindBy,
  values: readonly string[],
): Promise<readonly MemoryRecord[]> {
  if (values.length === 0) return [];
  const [rows = []] = await moment.readOnce(memoriesWhere(moment.place, conditionOf(moment, by, values)));
  const found = rows.map(fromRow).sort(compareCreated);
  if (by !== 'content') return found;
  const statements = await statementsOf(moment, found);
  const same = new Set(values.map(normalisedContent));
  return found.filter((_, at) => same.has(normalisedContent(statements[at] ?? '')));
}

/** Returns the full contents of memories, also of those that are kept as stubs. */
async function statementsOf(moment: Moment, memories: readonly MemoryRecord[]): Promise<readonly string[]> {
  const { database, id } = moment.place;
  const stubs = memories.filter(({ tier }) => tier === 'stub').map((memory) => memory.id);
  if (stubs.length === 0) return memories.map(({ content }) => content);
  const rows = await moment.rows(
    sql`SELECT ${EVENT_COLUMNS} FROM ${database.tables.event}
      WHERE space_id = ${id}::uuid AND memory_id IN ${wantedTexts(stubs)} ORDER BY sequence`,
  );
  const events = rows.map(eventOf);
  return memories.map((memory) =>
    memory.tier === 'stub'
      ? fullContent(
          memory,
          events.filter(({ memoryId }) => memoryId === memory.id),
        )
      : memory.content,
  );
}

function conditionOf(moment: Moment, by: FindBy, values: readonly string[]): Sql {
  const { database, id } = moment.place;
  const { supersession, entity_name, relation } = database.tables;
  const keyed = (rows: Sql) => sql`memory.key IN (${rows})`;
  const texts = () => wantedTexts(values);
  switch (by) {
    case 'content':
      return sql`memory.content_key IN ${wantedNumbers(values.map(contentKey))}`;
    case 'topicKey':
      return sql`memory.topic_key IN ${texts()}`;
    case 'sessionId':
      return sql`memory.session_id IN ${texts()}`;
    case 'supersedes':
      return keyed(
        sql`SELECT key FROM ${supersession} WHERE space_id = ${id}::uuid AND older_id IN ${texts()}`,
      );
    case 'names': {
      const names = wantedTexts(values.map(foldedName));
      return keyed(sql`SELECT key FROM ${entity_name} WHERE space_id = ${id}::uuid
        AND hashtextextended(name, 0) IN (SELECT hashtextextended(each.name, 0) FROM ${names} AS each(name))
        AND name IN ${names}`);
    }
    case 'ends':
      return keyed(
        sql`SELECT key FROM ${relation} WHERE space_id = ${id}::uuid AND from_id IN ${texts()}
          UNION SELECT key FROM ${relation} WHERE space_id = ${id}::uuid AND to_id IN ${texts()}`,
      );
    case 'relations': {
      const triples = values
        .flatMap((value) => tripleOf(value) ?? [])
        .map(({ from, name, to }) => [from, name, to])
        .filter((triple) => triple.every(isStorable));
      return keyed(sql`SELECT key FROM ${relation} WHERE space_id = ${id}::uuid AND (from_id, name, to_id) IN (
        SELECT triple ->> 0, triple ->> 1, triple ->> 2 FROM json_array_elements(${JSON.stringify(triples)}::json) AS triple)`);
    }
    case 'derivedFrom':
      return sql`derived_from <> '[]' AND EXISTS (
        SELECT 1 FROM json_array_elements_text(derived_from::json) AS part(id) WHERE part.id IN ${texts()})`;
  }
}

/** See `SpaceReader.around`. */
export async function memoriesAround(
  moment: Moment,
  { createdAt, ordinal }: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
  count: number,
): Promise<{ readonly before: readonly MemoryRecord[]; readonly after: readonly MemoryRecord[] }> {
  const { database, id } = moment.place;
  const on = (operator: Sql, order: Sql) =>
    sql`SELECT ${RECORD_COLUMNS} FROM ${database.tables.memory} AS memory
      WHERE space_id = ${id}::uuid AND (created_at, ordinal) ${operator} (${wantedNumber(createdAt)}, ${wantedNumber(ordinal)})
      ORDER BY created_at ${order}, ordinal ${order} LIMIT ${count}::bigint`;
  const [before = [], after = []] = await moment.read(on(sql`<`, sql`DESC`), on(sql`>`, sql`ASC`));
  return { before: before.map(fromRow).reverse(), after: after.map(fromRow) };
}
