import type { JsonValue, Metadata } from '../../domain/memory.ts';
import { type MetadataCondition, meetsMetadata } from '../../domain/metadata-condition.ts';
import { storedJson } from '../../store/damage.ts';
import type { Moment } from './moment.ts';
import { type Sql, sql, wantedTexts } from './sql.ts';

/** Returns the names and values to index for `metadata`, as JSON. An object or array becomes `[]`. */
export function attributesOf(metadata: Metadata): readonly (readonly [name: string, value: string])[] {
  return Object.entries(metadata).map(([name, value]) => [JSON.stringify(name), storedValue(value)]);
}

/** Finds the keys of the memories whose metadata meets all conditions. Returns `undefined` if there are no conditions. */
export async function keysWithMetadata(
  moment: Moment,
  conditions: readonly MetadataCondition[] | undefined,
): Promise<ReadonlySet<number> | undefined> {
  if (!conditions || conditions.length === 0) return undefined;
  let keys: ReadonlySet<number> | undefined;
  for (const condition of conditions) {
    const found = await keysMeeting(moment, condition);
    keys = keys ? new Set([...keys].filter((key) => found.has(key))) : found;
  }
  return keys;
}

async function keysMeeting(moment: Moment, condition: MetadataCondition): Promise<ReadonlySet<number>> {
  const { database, id } = moment.place;
  const { memory, attribute } = database.tables;
  const name = JSON.stringify(condition.key);
  const named = sql`space_id = ${id}::uuid AND hashtextextended(name, 0) = hashtextextended(${name}::text, 0) AND name = ${name}::text`;
  const { test } = condition;
  if ('exists' in test && !test.exists) {
    return keysOf(
      moment,
      sql`SELECT key FROM ${memory} WHERE space_id = ${id}::uuid AND key NOT IN (SELECT key FROM ${attribute} WHERE ${named})`,
    );
  }
  const values = wantedTexts(
    'in' in test ? test.in.map(storedValue) : await valuesMeeting(moment, condition, named),
  );
  return keysOf(
    moment,
    sql`SELECT key FROM ${attribute} WHERE ${named}
      AND hashtextextended(value, 0) IN (SELECT hashtextextended(each.value, 0) FROM ${values} AS each(value)) AND value IN ${values}`,
  );
}

/**
 * Finds the stored values that meet a condition. A database orders and converts values by its own rules, so `meetsMetadata` decides,
 * once for each distinct value.
 */
async function valuesMeeting(
  moment: Moment,
  condition: MetadataCondition,
  named: Sql,
): Promise<readonly string[]> {
  const { attribute } = moment.place.database.tables;
  const found = await moment.rows<{ value: string }>(
    sql`SELECT DISTINCT value FROM ${attribute} WHERE ${named}`,
  );
  const place = { table: 'attribute', row: condition.key };
  return found
    .map(({ value }) => value)
    .filter((value) =>
      meetsMetadata({ [condition.key]: storedJson<JsonValue>(value, () => true, place, 'value') }, [
        condition,
      ]),
    );
}

async function keysOf(moment: Moment, query: Sql): Promise<ReadonlySet<number>> {
  return new Set((await moment.rows<{ key: number }>(query)).map(({ key }) => key));
}

function storedValue(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? '[]' : JSON.stringify(value);
}
