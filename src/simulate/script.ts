import { invalidArgument, number, oneOf, text, texts, wholeNumber } from '../domain/check.ts';
import { CREATE_FIELDS } from '../domain/fields.ts';
import { onlyKeys } from '../domain/options.ts';
import {
  formatInstant,
  type Instant,
  isInstant,
  MILLISECONDS_PER_DAY,
  parseInstant,
} from '../domain/time.ts';
import type { RememberInput } from '../index.ts';
import { readFields, readLineItems } from './reading.ts';

/**
 * A script for a simulation: memories, recalls and maintenance over time. Days count from `start` and may be fractions.
 */
export interface LifeScript {
  /** Default is 2026-01-01. */
  readonly start: Instant;
  /** 1–3,660. Default is 365. */
  readonly days: number;
  /** Days between two runs of maintenance; 0 for none. Default is 1. */
  readonly maintainEvery: number;
  /** Whether maintenance also consolidates. Default is false. */
  readonly consolidate: boolean;
  readonly memories: readonly ScriptedMemory[];
  readonly recalls: readonly ScriptedRecall[];
  /** The ids of the memories whose development is reported. Default is all memories of the script. */
  readonly watch: readonly string[];
}

export interface ScriptedMemory {
  /** Its place in the script, for messages. */
  readonly where: string;
  readonly day: number;
  /** The input of `remember`, always with an id. */
  readonly input: RememberInput & { readonly id: string };
}

export interface ScriptedRecall {
  readonly where: string;
  readonly day: number;
  readonly query: string | undefined;
  /** `{n}` in it is replaced by the number of the repetition. */
  readonly session: string | undefined;
  /** Default is `retention`. */
  readonly strategy: string;
  /** Default is that of the strategy. */
  readonly limit: number | undefined;
  /** Only memories of these types. Default is all. */
  readonly types: readonly string[] | undefined;
  /** Days between two repetitions; `undefined` for a single recall. */
  readonly every: number | undefined;
  /** The last day on which it may happen. Default is the last day of the script. */
  readonly until: number;
}

/** How many days a script may last. */
export const MOST_DAYS = 3660;
/** The shortest time between two repetitions, in days: an hour. */
const SHORTEST = 1 / 24;
const settingKeys = ['start', 'days', 'maintainEvery', 'consolidate', 'watch'] as const;
const recallKeys = ['day', 'query', 'session', 'strategy', 'limit', 'types', 'every', 'until'];
/** The fields of a memory in a script. `day` takes the place of the times. */
const memoryKeys = [
  'day',
  'ttl',
  ...CREATE_FIELDS.filter((name) => name !== 'createdAt' && name !== 'updatedAt'),
];

/** One item of a script, and its place. */
export interface ScriptItem {
  readonly where: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ParseOptions {
  /** Default is `json`. */
  readonly format?: 'json' | 'jsonl' | undefined;
  /** How many days to simulate, 1–3,660, instead of the script's own number. Later items are left out. */
  readonly days?: number | undefined;
}

/**
 * Reads a script: one JSON object, or JSON Lines with a `kind` on each line: `settings`, `memory` or `recall`.
 * Throws `invalid_argument` naming the field, in JSON Lines with its line; `invalid_time`.
 */
export function parseLifeScript(source: string, options: ParseOptions = {}): LifeScript {
  const days = options.days === undefined ? undefined : wholeNumber(options.days, 'days', 1, MOST_DAYS);
  return options.format === 'jsonl' ? fromLines(source, days) : fromObject(source, days);
}

function fromObject(source: string, playedDays: number | undefined): LifeScript {
  const script = readFields(source, 'script');
  onlyKeys(script, [...settingKeys, 'memories', 'recalls'], 'script');
  return assemble(
    { where: 'script', fields: script },
    listItems(script['memories'], 'memories'),
    listItems(script['recalls'] ?? [], 'recalls'),
    playedDays,
  );
}

function fromLines(source: string, playedDays: number | undefined): LifeScript {
  const items = readLineItems(source);
  const settings = items.filter(({ kind }) => kind === 'settings');
  const second = settings[1];
  if (second) throw invalidArgument(second.where, 'settings were given on an earlier line');
  const [first] = settings;
  if (first) onlyKeys(first.fields, settingKeys, first.where);
  return assemble(
    first ?? { where: 'settings', fields: {} },
    items.filter(({ kind }) => kind === 'memory'),
    items.filter(({ kind }) => kind === 'recall'),
    playedDays,
  );
}

function listItems(value: unknown, field: string): readonly ScriptItem[] {
  if (!Array.isArray(value)) throw invalidArgument(field, 'expected a list');
  return value.map((each, index) => ({ where: `${field}[${index}]`, fields: each as ScriptItem['fields'] }));
}

function assemble(
  settings: ScriptItem,
  memoryItems: readonly ScriptItem[],
  recallItems: readonly ScriptItem[],
  playedDays: number | undefined,
): LifeScript {
  const { fields } = settings;
  const at = (field: string) => (settings.where === 'script' ? field : `${settings.where}.${field}`);
  const told = fields['days'] === undefined ? 365 : wholeNumber(fields['days'], at('days'), 1, MOST_DAYS);
  const days = playedDays ?? told;
  const latest = Math.max(told, days);
  const memories = memoryItems.map((item, index) => scriptedMemory(item, index, latest));
  if (memories.length === 0) throw invalidArgument('memories', 'expected at least one memory to simulate');
  const ids = memories.map(({ input }) => input.id);
  memories.forEach(({ where }, index) => {
    const twin = ids.indexOf(ids[index] as string);
    if (twin < index) {
      throw invalidArgument(
        `${where}.id`,
        `${JSON.stringify(ids[index])} is that of ${memories[twin]?.where} already`,
      );
    }
  });
  const recalls = recallItems.map((item) => scriptedRecall(item, latest));
  const watch = watchOf(fields['watch'], at('watch'), ids);
  const played = memories.filter(({ day }) => day <= days);
  const playedIds = played.map(({ input }) => input.id);
  return {
    start: startOf(fields['start'], at('start'), days),
    days,
    maintainEvery: maintainEveryOf(fields['maintainEvery'], at('maintainEvery')),
    consolidate: flag(fields['consolidate'], at('consolidate')),
    memories: played,
    recalls: recalls
      .filter(({ day }) => day <= days)
      .map((recall) => ({ ...recall, until: Math.min(recall.until, days) })),
    watch: watch.filter((id) => playedIds.includes(id)),
  };
}

/** Reads the days between two runs of maintenance; 0 means never. */
function maintainEveryOf(value: unknown, field: string): number {
  if (value === undefined) return 1;
  return value === 0 ? 0 : number(value, field, SHORTEST, MOST_DAYS);
}

function startOf(value: unknown, field: string, days: number): Instant {
  if (value === undefined) return Date.UTC(2026, 0, 1);
  const start = parseInstant(text(value, field), field);
  if (isInstant(start + days * MILLISECONDS_PER_DAY)) return start;
  throw invalidArgument(
    field,
    `${days} days from ${formatInstant(start)} end after the year 9999; start earlier, or play fewer days`,
  );
}

function flag(value: unknown, field: string): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true;
  throw invalidArgument(field, 'expected true or false');
}

function watchOf(value: unknown, field: string, ids: readonly string[]): readonly string[] {
  if (value === undefined) return ids;
  const watched = texts(value, field, ids.length, 128);
  if (watched.length === 0) throw invalidArgument(field, 'it must name a memory, or be left out for all');
  watched.forEach((id, index) => void oneOf(id, `${field}[${index}]`, ids));
  return watched;
}

function scriptedMemory({ where, fields }: ScriptItem, index: number, days: number): ScriptedMemory {
  onlyKeys(fields, memoryKeys, where);
  const { day, ...input } = fields;
  text(input['content'], `${where}.content`);
  // `remember` checks the other fields itself during the simulation.
  const id = input['id'] === undefined ? `memory-${index + 1}` : text(input['id'], `${where}.id`);
  return {
    where,
    day: dayOf(day, `${where}.day`, days),
    input: { ...(input as object as RememberInput), id },
  };
}

function scriptedRecall({ where, fields }: ScriptItem, days: number): ScriptedRecall {
  onlyKeys(fields, recallKeys, where);
  const { query, session, strategy, limit, types, every, until } = fields;
  const day = dayOf(fields['day'], `${where}.day`, days);
  if (until !== undefined && every === undefined) {
    throw invalidArgument(`${where}.until`, '"until" needs an interval of days');
  }
  return {
    where,
    day,
    query: query === undefined ? undefined : text(query, `${where}.query`),
    session: session === undefined ? undefined : text(session, `${where}.session`, { maxCharacters: 190 }),
    strategy: strategy === undefined ? 'retention' : text(strategy, `${where}.strategy`),
    limit: limit === undefined ? undefined : wholeNumber(limit, `${where}.limit`, 1, 1000),
    types: types === undefined ? undefined : texts(types, `${where}.types`, 100, 64),
    every: every === undefined ? undefined : number(every, `${where}.every`, SHORTEST, MOST_DAYS),
    until: until === undefined ? days : number(until, `${where}.until`, day, days),
  };
}

function dayOf(value: unknown, field: string, days: number): number {
  return number(value, field, 0, days);
}
