import { SalienceError } from '../../domain/errors.ts';
import { deepFreeze } from '../../domain/frozen.ts';
import { keysOf } from '../../domain/options.ts';
import {
  DEFAULT_SETTINGS,
  type FadingOption,
  parseFading,
  parsePeople,
  parseRecallRecording,
  parseSingleValued,
  parseTimeZone,
  type RecallRecordingOption,
  type SpaceSettings,
  sameSetting,
  settingText,
} from '../../domain/settings.ts';
import type { SpaceStore } from '../../store/store.ts';
import { type Dependencies, momentOf } from '../dependencies.ts';
import { trimRecordings } from '../recall/recording.ts';
import type { OperationOptions } from '../types.ts';

/** What can be decided for a space. */
export interface SettingsOptions {
  /**
   * `off`: nothing cools, is archived or consolidated by its age. `retention`: what is not used does; as an object, by
   * which curve and after how many days.
   */
  readonly fading?: FadingOption | undefined;
  /** The IANA name of the zone in which days are meant, such as `Europe/Berlin`. */
  readonly timeZone?: string | undefined;
  /**
   * Whether recalls are recorded, for how many days, and with the texts of their queries or without. What is recorded and
   * goes beyond the new setting is erased at once, for good: with `off` everything.
   */
  readonly recordRecalls?: RecallRecordingOption | undefined;
  /**
   * The names of relations of which one value holds at a time, such as `lives_in`: all of them, in the place of those
   * before. It says how relations are read; what is stored stays.
   */
  readonly singleValued?: readonly string[] | undefined;
  /**
   * `authors`: with a statement its author is remembered as an entity of kind `person`, unless one of that name can be seen
   * from its scope. Only what looks like a person's name counts, and no role but `user`. It begins with what is written next.
   */
  readonly people?: 'off' | 'authors' | undefined;
}

export interface ConfigureOptions extends SettingsOptions, OperationOptions {}

const SETTING_NAMES = keysOf<SettingsOptions>()({
  fading: true,
  timeZone: true,
  recordRecalls: true,
  singleValued: true,
  people: true,
});

/** Settings with those that are given in their place. Throws `invalid_argument`. */
export function withSettings(
  { fading, recordRecalls, timeZone, singleValued, people }: SettingsOptions,
  before: SpaceSettings = DEFAULT_SETTINGS,
): SpaceSettings {
  // Every call of the space reads the same object.
  return deepFreeze({
    fading: fading === undefined ? before.fading : parseFading(fading),
    recordRecalls: recordRecalls === undefined ? before.recordRecalls : parseRecallRecording(recordRecalls),
    timeZone: timeZone === undefined ? before.timeZone : parseTimeZone(timeZone),
    singleValued: singleValued === undefined ? before.singleValued : parseSingleValued(singleValued),
    people: people === undefined ? before.people : parsePeople(people),
  });
}

/** Changes what was decided for the space, and returns it; without options it changes nothing. `undo` takes it back. */
export async function configure(
  engine: Dependencies,
  options: ConfigureOptions = {},
): Promise<SpaceSettings> {
  withSettings(options);
  const before = await engine.space.settings();
  const isSame = (a: SpaceSettings, b: SpaceSettings) =>
    SETTING_NAMES.every((name) => sameSetting(a[name], b[name]));
  if (isSame(withSettings(options, before), before)) return before;
  const settings = await engine.space.write(
    { verb: 'configure', at: momentOf(engine, options) },
    async (reader) => {
      const present = await reader.settings();
      const settings = withSettings(options, present);
      return { changes: [], result: settings, ...(isSame(settings, present) ? {} : { settings }) };
    },
  );
  if (options.recordRecalls !== undefined) await trimRecordings(engine, settings);
  return settings;
}

/** Throws `settings_mismatch` where a space was made with other settings than it is opened with. */
export async function checkSettings(space: SpaceStore, options: SettingsOptions): Promise<void> {
  if (SETTING_NAMES.every((name) => options[name] === undefined)) return;
  const stored = await space.settings();
  const wanted = withSettings(options, stored);
  for (const name of SETTING_NAMES) {
    if (sameSetting(stored[name], wanted[name])) continue;
    throw new SalienceError(
      'settings_mismatch',
      `space ${JSON.stringify(space.name)} has ${name} ${settingText(stored[name])} and is opened with ${settingText(wanted[name])}: leave the option out, or change the space with configure`,
      { details: { space: space.name, setting: name } },
    );
  }
}
