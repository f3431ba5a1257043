import { FIELD_NAMES, FIELDS, type Field, type NumberField, withPresentNames } from '../domain/fields.ts';
import { deepFreeze } from '../domain/frozen.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { Triple } from '../domain/relation.ts';
import { DEFAULT_SETTINGS, type SpaceSettings, sameSetting } from '../domain/settings.ts';
import { isObject, isTextList, storedJson, type Untrusted } from './damage.ts';
import type { Recording } from './recording.ts';
import type { LinkChange, Usage, UseBefore } from './store.ts';
import { dynamicsOf } from './using.ts';

// Parses the JSON columns of databases. Everything is checked, because a row may be damaged.

/** The values of fields that earlier versions did not write: an empty list for lists, else `undefined`. */
export const ABSENT: Readonly<Record<string, unknown>> = Object.fromEntries(
  FIELD_NAMES.map((name) => {
    const { initial }: Field = FIELDS[name];
    return [name, Array.isArray(initial) ? initial : undefined];
  }),
);

/** Parses `before` of the event `sequence`, in which absent fields are left out. Throws `store_corrupt`. */
export function recordFromJson(json: string, sequence: number): MemoryRecord {
  const record = storedJson<MemoryRecord & { readonly supersedes?: string | readonly string[] }>(
    json,
    isRecord,
    { table: 'event', row: sequence },
    'before',
  );
  // Older versions allowed one superseded memory and wrote it as a string.
  return { ...ABSENT, ...withPresentNames(record), supersedes: [record.supersedes ?? []].flat() };
}

const textKeys = ['id', 'scope', 'type', 'content', 'tier', 'source'] as const;
const NUMBERS = FIELD_NAMES.filter((name) => FIELDS[name].kind === 'number') as readonly NumberField[];
const numberKeys = ['createdAt', 'updatedAt', ...NUMBERS] as const;

/** Whether a value has at least the fields that every version wrote, with the right types. */
function isRecord(value: unknown): boolean {
  return (
    isObject<MemoryRecord>(value) &&
    textKeys.every((key) => typeof value[key] === 'string') &&
    numberKeys.every((key) => Number.isFinite(value[key])) &&
    isTextList(value.tags) &&
    isTextList(value.sessions) &&
    isTextList([value.supersedes ?? []].flat()) &&
    isObject(value.metadata)
  );
}

/** Whether this is a list of relations. */
export function isRelationList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((each) => isObject<Triple>(each) && isTextList([each.from, each.name, each.to]))
  );
}

/** Parses `link` of the event `sequence`, in which absent fields are left out. Throws `store_corrupt`. */
export function linkChangeFromJson(json: string, sequence: number): LinkChange {
  const { link, before } = storedJson<LinkChange>(
    json,
    isLinkChange,
    { table: 'event', row: sequence },
    'link',
  );
  return { link, before };
}

function isLinkChange(value: unknown): boolean {
  return (
    isObject<LinkChange>(value) &&
    isObject<LinkChange['link']>(value.link) &&
    isTextList(value.link.ids) &&
    value.link.ids.length === 2
  );
}

/** Parses `before` of the row `sequence` of the usage log. Throws `store_corrupt`. */
export function useBeforeFromJson(json: string, sequence: number): UseBefore {
  const { memories, links } = storedJson<UseBefore>(
    json,
    isBefore,
    { table: 'usage', row: sequence },
    'before',
  );
  return {
    memories: memories.map(({ id, ...dynamics }) => ({ id, ...dynamicsOf(dynamics) })),
    links: links.map(({ link, before }) => ({ link, before })),
  };
}

/** Parses `used` of the row `sequence` of the usage log. Throws `store_corrupt`. */
export function usedFromJson(json: string, sequence: number): Usage['used'] {
  return storedJson(json, (value) => isListOf(value, hasId), { table: 'usage', row: sequence }, 'used');
}

function isBefore(value: unknown): boolean {
  return isObject<UseBefore>(value) && isListOf(value.memories, hasUse) && isListOf(value.links, hasLink);
}

type UsedItem = UseBefore['memories'][number] & LinkChange;

function isListOf(value: unknown, isItem: (item: Untrusted<UsedItem>) => boolean): boolean {
  return Array.isArray(value) && value.every((each) => isObject<UsedItem>(each) && isItem(each));
}

const hasId = ({ id }: Untrusted<UsedItem>) => typeof id === 'string';
const hasUse = ({ id, sessions }: Untrusted<UsedItem>) => typeof id === 'string' && isTextList(sessions);
const hasLink = ({ link }: Untrusted<UsedItem>) => isObject<LinkChange['link']>(link) && isTextList(link.ids);

/** Serialises settings. Leaves out the newer settings that have their default, as earlier versions wrote them. */
export function settingsToJson({ recordRecalls, singleValued, people, ...settings }: SpaceSettings): string {
  return JSON.stringify({
    ...settings,
    ...(recordRecalls === 'off' ? {} : { recordRecalls }),
    ...(sameSetting(singleValued, DEFAULT_SETTINGS.singleValued) ? {} : { singleValued }),
    ...(people === 'off' ? {} : { people }),
  });
}

type RecordedFor = Exclude<SpaceSettings['recordRecalls'], 'off'>;

export function settingsFromJson(
  json: string,
  where: { readonly table: string; readonly row: number },
): SpaceSettings {
  const isSettings = (value: unknown) =>
    isObject<SpaceSettings>(value) &&
    typeof value.timeZone === 'string' &&
    isObject<SpaceSettings['fading']>(value.fading) &&
    (value.fading.mode === 'off' || value.fading.mode === 'retention') &&
    (value.singleValued === undefined || isTextList(value.singleValued)) &&
    (value.people === undefined || value.people === 'off' || value.people === 'authors') &&
    (value.recordRecalls === undefined ||
      (isObject<RecordedFor>(value.recordRecalls) &&
        typeof value.recordRecalls.days === 'number' &&
        typeof value.recordRecalls.texts === 'boolean'));
  return deepFreeze({
    ...DEFAULT_SETTINGS,
    ...storedJson<SpaceSettings>(json, isSettings, where, 'settings'),
  });
}

/** Parses `hits` of a recorded recall. Throws `store_corrupt`. */
export function hitsFromJson(json: string, sequence: number): Recording['hits'] {
  return storedJson(json, areHits, { table: 'recall', row: sequence }, 'hits');
}

/** Parses `details` of a recorded recall. Throws `store_corrupt`. */
export function detailsFromJson(json: string, sequence: number): Recording['details'] {
  return storedJson(json, areDetails, { table: 'recall', row: sequence }, 'details');
}

function areHits(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (each) =>
        isObject<Recording['hits'][number]>(each) &&
        typeof each.id === 'string' &&
        typeof each.score === 'number',
    )
  );
}

function areDetails(value: unknown): boolean {
  return isObject<Recording['details']>(value) && isObject(value['options']);
}
