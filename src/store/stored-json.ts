import { FIELD_NAMES, FIELDS, type Field, type NumberField, withPresentNames } from '../domain/fields.ts';
import { deepFreeze } from '../domain/frozen.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { Triple } from '../domain/relation.ts';
import { DEFAULT_SETTINGS, type SpaceSettings, sameSetting } from '../domain/settings.ts';
import { isObject, isTextList, storedJson, type Untrusted } from './damage.ts';
import type { Recording } from './recording.ts';
import type { LinkChange, Usage, UseBefore } from './store.ts';
import { dynamicsOf } from './using.ts';

// What databases keep as JSON, read back with caution: a row may be damaged.

/** Of fields that earlier versions did not write: lists are empty then, everything else is unknown. */
export const ABSENT: Readonly<Record<string, unknown>> = Object.fromEntries(
  FIELD_NAMES.map((name) => {
    const { initial }: Field = FIELDS[name];
    return [name, Array.isArray(initial) ? initial : undefined];
  }),
);

/** A record out of the log, in the event `sequence`; JSON leaves out what is absent. Throws `store_corrupt`. */
export function recordFromJson(json: string, sequence: number): MemoryRecord {
  const record = storedJson<MemoryRecord & { readonly supersedes?: string | readonly string[] }>(
    json,
    isRecord,
    { table: 'event', row: sequence },
    'before',
  );
  // An older version knew of one superseded memory at most.
  return { ...ABSENT, ...withPresentNames(record), supersedes: [record.supersedes ?? []].flat() };
}

const textKeys = ['id', 'scope', 'type', 'content', 'tier', 'source'] as const;
const NUMBERS = FIELD_NAMES.filter((name) => FIELDS[name].kind === 'number') as readonly NumberField[];
const numberKeys = ['createdAt', 'updatedAt', ...NUMBERS] as const;

/** Whether this has at least what every version wrote, in the right kinds. */
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

/** The change of a link in the event `sequence`; JSON leaves out what is absent. Throws `store_corrupt`. */
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

/** What a use changed, in the row `sequence` of the usage log. Throws `store_corrupt`. */
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

/** The memories that a use names. Throws `store_corrupt`. */
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

/** What is as it was before there was a choice takes no room. */
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

/** What a recorded recall returned. Throws `store_corrupt`. */
export function hitsFromJson(json: string, sequence: number): Recording['hits'] {
  return storedJson(json, areHits, { table: 'recall', row: sequence }, 'hits');
}

/** What else a recorded recall can be repeated from. Throws `store_corrupt`. */
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
