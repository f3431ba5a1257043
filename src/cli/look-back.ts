import { type Instant, parseInstant } from '../domain/time.ts';
import type { AsOf } from '../index.ts';
import type { Context } from './context.ts';
import { plural } from './units.ts';

/** The options of a look back. */
export interface LookBackFlags {
  readonly asOf?: string | undefined;
  readonly validAt?: string | undefined;
}

export const AS_OF = ['--as-of <time>', 'look back: what was known at this moment'] as const;
export const VALID_AT = ['--valid-at <time>', 'look back: by what was true at this moment'] as const;

/** Converts the options of a look back. Throws `invalid_time`. */
export function asOfOf({ asOf, validAt }: LookBackFlags): AsOf | undefined {
  if (asOf === undefined && validAt === undefined) return undefined;
  const at = (time: string | undefined, option: string) =>
    time === undefined ? undefined : new Date(parseInstant(time, option));
  return { known: at(asOf, '--as-of'), valid: at(validAt, '--valid-at') };
}

/** Returns the time from which ages are counted: with `--as-of` that moment, otherwise now. */
export function viewedFrom({ options, now }: Pick<Context<LookBackFlags>, 'options' | 'now'>): Instant {
  return options.asOf === undefined ? now : parseInstant(options.asOf, '--as-of');
}

/** Says how many memories a look back can no longer show. */
export function redactedLines(count: number | undefined): readonly string[] {
  return count
    ? [`${plural(count, 'memory', 'memories')} known then ${count === 1 ? 'was' : 'were'} forgotten since`]
    : [];
}
