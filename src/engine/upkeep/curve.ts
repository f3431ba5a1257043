import { wholeNumber } from '../../domain/check.ts';
import { formatInstant, isInstant, MILLISECONDS_PER_DAY } from '../../domain/time.ts';
import { retentionAt } from '../../scoring/fading.ts';
import { signalsOf } from '../../scoring/signals.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import type { OperationOptions } from '../types.ts';
import { fateOf } from './maintain.ts';

export interface CurveOptions extends OperationOptions {
  /** How many days to look ahead, 1–3,650. Default is 365. */
  readonly days?: number | undefined;
}

/** How a memory fades if it is not used. */
export interface FadingCurve {
  readonly id: string;
  /** How the space fades. With `off` the memory stays as it is, whatever the curve. */
  readonly fading: 'off' | 'retention';
  readonly curve: 'exponential' | 'power';
  /** Retention, 0–1: now, and at most 100 later points until the end. */
  readonly points: readonly { readonly at: string; readonly retention: number }[];
  /**
   * The first whole day from now after which maintenance may make it cold; absent if that is not before the end, the
   * memory is core, or the space does not fade.
   */
  readonly coldAt?: string | undefined;
}

const MOST_POINTS = 100;

/** Returns how a memory fades from now on. Throws `not_found`. */
export async function curve(
  engine: Dependencies,
  id: string,
  options: CurveOptions = {},
): Promise<FadingCurve> {
  const days = wholeNumber(options.days ?? 365, 'days', 1, 3650);
  const now = momentOf(engine, options);
  const [record] = await engine.space.get([id]);
  if (!record) throw notFound(id, engine.space.name);
  const { fading } = await engine.space.settings();
  const shape = fading.mode === 'retention' ? fading.curve : 'exponential';
  const signals = signalsOf(record);
  const after = (day: number) => now + day * MILLISECONDS_PER_DAY;
  const steps = Math.min(days, MOST_POINTS);
  // Leaves out points after the last representable time.
  const points = Array.from({ length: steps + 1 }, (_, step) => after((step * days) / steps))
    .filter(isInstant)
    .map((at) => ({ at: formatInstant(at), retention: retentionAt(signals, at, shape) }));
  const coldAfter = Array.from({ length: days + 1 }, (_, day) => day).find(
    (day) => isInstant(after(day)) && fateOf(record, after(day), fading) === 'cooled',
  );
  return {
    id,
    fading: fading.mode,
    curve: shape,
    points,
    ...(coldAfter === undefined ? {} : { coldAt: formatInstant(after(coldAfter)) }),
  };
}
