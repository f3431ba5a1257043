import { flag, invalidArgument, number, oneOf, texts, wholeNumber } from './check.ts';
import { describe } from './describe.ts';
import { deepFreeze } from './frozen.ts';
import { isPlain, onlyKeys } from './options.ts';
import { relationName, SINGLE_VALUED } from './relation.ts';

/** How the memories of a space fade. Stored in the space, so that all processes use the same rules. */
export type Fading = FadingOff | RetentionFading;

/** Age has no effect: no memory becomes cold, is archived or is consolidated because of it. */
export interface FadingOff {
  readonly mode: 'off';
}

/** Unused memories become cold, are then archived as stubs, and may be consolidated. */
export interface RetentionFading {
  readonly mode: 'retention';
  /** The forgetting curve, as in the parameter `curve` of the strategy `retention`. Default is `exponential`. */
  readonly curve: 'exponential' | 'power';
  /** Days at the floor after which a memory becomes cold, 0–3,650. Default is 7. */
  readonly daysAtFloor: number;
  /** Days after which a cold memory becomes a stub, 0–36,500. Default is 180. */
  readonly daysCold: number;
}

/** Fading as a caller passes it. A mode alone means its defaults. */
export type FadingOption =
  | Fading['mode']
  | FadingOff
  | {
      readonly mode: 'retention';
      readonly curve?: RetentionFading['curve'] | undefined;
      readonly daysAtFloor?: number | undefined;
      readonly daysCold?: number | undefined;
    };

/** Whether recalls are recorded: `off`, or for how many days and whether with the query texts. */
export type RecallRecording =
  | 'off'
  | {
      /** How many days a recall stays in the log, 1–365. Default is 30. */
      readonly days: number;
      /** Whether query texts are kept. Without them recalls cannot be replayed. Default is false. */
      readonly texts: boolean;
    };

/** Recording as a caller passes it. Omitted properties have their defaults. */
export type RecallRecordingOption =
  | 'off'
  | { readonly days?: number | undefined; readonly texts?: boolean | undefined };

/** The settings of a space, chosen when it is created and changed by `configure`. */
export interface SpaceSettings {
  readonly fading: Fading;
  /** Default is `off`. */
  readonly recordRecalls: RecallRecording;
  /** The IANA name of the time zone in which days begin and end, such as `Europe/Berlin`. Default is `UTC`. */
  readonly timeZone: string;
  /** The names of relations that have one value at a time, sorted. Default is {@link SINGLE_VALUED}. */
  readonly singleValued: readonly string[];
  /** `authors`: an author that looks like a person's name is stored as an entity. Default is `off`. */
  readonly people: 'off' | 'authors';
}

export const DEFAULT_SETTINGS: SpaceSettings = deepFreeze({
  fading: { mode: 'off' },
  recordRecalls: 'off',
  timeZone: 'UTC',
  singleValued: SINGLE_VALUED,
  people: 'off',
});

const RECORDING: Exclude<RecallRecording, 'off'> = { days: 30, texts: false };

const RETENTION_FADING: RetentionFading = {
  mode: 'retention',
  curve: 'exponential',
  daysAtFloor: 7,
  daysCold: 180,
};

/** Parses the fading of a space. Throws `invalid_argument` naming the property. */
export function parseFading(option: FadingOption): Fading {
  const given = typeof option === 'string' ? { mode: option } : option;
  if (typeof given !== 'object' || given === null) {
    throw invalidArgument('fading', 'expected "off", "retention" or an object with a mode');
  }
  oneOf(given.mode, 'fading.mode', ['off', 'retention']);
  if (given.mode === 'off') {
    onlyKeys(given, ['mode'], 'fading');
    return DEFAULT_SETTINGS.fading;
  }
  onlyKeys(given, Object.keys(RETENTION_FADING), 'fading');
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const fading: RetentionFading = { ...RETENTION_FADING, ...known };
  oneOf(fading.curve, 'fading.curve', ['exponential', 'power']);
  number(fading.daysAtFloor, 'fading.daysAtFloor', 0, 3650);
  number(fading.daysCold, 'fading.daysCold', 0, 36_500);
  return fading;
}

/** Parses whether recalls are recorded. Throws `invalid_argument` naming the property. */
export function parseRecallRecording(option: RecallRecordingOption): RecallRecording {
  if (option === 'off') return option;
  if (typeof option !== 'object' || option === null) {
    throw invalidArgument('recordRecalls', 'expected "off" or an object such as { days: 30, texts: false }');
  }
  onlyKeys(option, Object.keys(RECORDING), 'recordRecalls');
  const { days = RECORDING.days, texts = RECORDING.texts } = option;
  return {
    days: wholeNumber(days, 'recordRecalls.days', 1, 365),
    texts: flag(texts, 'recordRecalls.texts'),
  };
}

/** Parses the IANA name of a time zone and returns it as this runtime spells it. Throws `invalid_argument`. */
export function parseTimeZone(name: unknown): string {
  if (typeof name === 'string') {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    } catch {
      // falls through to the one error below
    }
  }
  throw invalidArgument(
    'timeZone',
    'expected the IANA name of a time zone, such as "Europe/Berlin" or "UTC"',
  );
}

/** Parses the names of single-valued relations, which replace the previous list. Throws `invalid_argument`. */
export function parseSingleValued(names: unknown): readonly string[] {
  const given = texts(names, 'singleValued', 1000, 64);
  return [...new Set(given.map((name, at) => relationName(name, `singleValued[${at}]`)))].sort();
}

/** Parses whether authors are stored as people. Throws `invalid_argument`. */
export function parsePeople(people: unknown): SpaceSettings['people'] {
  return oneOf(people as SpaceSettings['people'], 'people', ['off', 'authors']);
}

/** One setting of a space. */
type Setting = SpaceSettings[keyof SpaceSettings];

/** Whether two settings mean the same. */
export function sameSetting(a: Setting, b: Setting): boolean {
  return settingText(a) === settingText(b);
}

/**
 * Formats a setting for a message: its mode, and the values that differ from the defaults of that mode. Throws
 * `invalid_argument` for a value that is not a setting.
 *
 * @example
 * ```ts
 * const { fading } = await memory.configure();
 * console.log(settingText(fading)); // "off"
 * ```
 */
export function settingText(setting: Setting): string {
  if (typeof setting === 'string' || Array.isArray(setting)) return JSON.stringify(setting);
  if (!isPlain(setting)) {
    throw invalidArgument('setting', `expected a setting, as configure() returns, not ${describe(setting)}`);
  }
  if (!('mode' in setting)) return JSON.stringify(setting);
  if (setting.mode === 'off') return '"off"';
  const { mode, ...rest } = setting;
  const own = Object.entries(rest).filter(
    ([name, value]) => RETENTION_FADING[name as keyof RetentionFading] !== value,
  );
  return own.length === 0 ? '"retention"' : JSON.stringify({ mode, ...Object.fromEntries(own) });
}
