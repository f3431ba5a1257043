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

/** The settings of a space. */
export interface SettingsOptions {
  /**
   * `off`: nothing cools, is archived or consolidated because of its age. `retention`: unused memories do. An object
   * sets the curve and the numbers of days.
   */
  readonly fading?: FadingOption | undefined;
  /** The IANA name of the time zone in which dates are read, such as `Europe/Berlin`. */
  readonly timeZone?: string | undefined;
  /**
   * Whether recalls are recorded, for how many days, and whether with the texts of their queries. Recordings that
   * exceed the new setting are erased at once, for good: with `off` all of them.
   */
  readonly recordRecalls?: RecallRecordingOption | undefined;
  /**
   * The names of all single-valued relations, such as `lives_in`: a subject has one value at a time. Replaces the
   * earlier list. Graph reads follow at once. Stored memories do not change, so for a recall, relate a value again: the
   * current one if the name is now single-valued, an earlier one if it no longer is.
   */
  readonly singleValued?: readonly string[] | undefined;
  /**
   * `authors`: the author of a statement is remembered as an entity of kind `person`, unless an entity of that name is
   * visible from its scope. The author must look like the name of a person and have the role `user`. Applies to later
   * writes.
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

/** Returns settings with the given ones replaced. Throws `invalid_argument`. */
export function withSettings(
  { fading, recordRecalls, timeZone, singleValued, people }: SettingsOptions,
  before: SpaceSettings = DEFAULT_SETTINGS,
): SpaceSettings {
  // All calls share this object.
  return deepFreeze({
    fading: fading === undefined ? before.fading : parseFading(fading),
    recordRecalls: recordRecalls === undefined ? before.recordRecalls : parseRecallRecording(recordRecalls),
    timeZone: timeZone === undefined ? before.timeZone : parseTimeZone(timeZone),
    singleValued: singleValued === undefined ? before.singleValued : parseSingleValued(singleValued),
    people: people === undefined ? before.people : parsePeople(people),
  });
}

/** Changes the settings of the space and returns all of them; without options it only reads them. `undo` reverts the change. */
export async function configure(
  engine: Dependencies,
  options: ConfigureOptions = {},
): Promise<SpaceSettings> {
  withSettings(options);
  const before = await engine.space.settings();
  const isSame = (a: SpaceSettings, b: SpaceSettings) =>
    SETTING_NAMES.every((name) => sameSetting(a[name], b[name]));
  // Also if the settings are the same: an earlier call may have failed after it had changed them.
  const trimmed = async (settings: SpaceSettings) => {
    if (options.recordRecalls !== undefined) await trimRecordings(engine, settings);
    return settings;
  };
  if (isSame(withSettings(options, before), before)) return trimmed(before);
  const settings = await engine.space.write(
    { verb: 'configure', at: momentOf(engine, options) },
    async (reader) => {
      const present = await reader.settings();
      const settings = withSettings(options, present);
      return { changes: [], result: settings, ...(isSame(settings, present) ? {} : { settings }) };
    },
  );
  return trimmed(settings);
}

/** Throws `settings_mismatch` if a stored setting differs from one that the space is opened with. */
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
