import fc from 'fast-check';
import { ageInDays } from '../domain/time.ts';
import { clockOf } from '../scoring/operators/age.ts';
import type { Interval, Knowledge } from '../scoring/operators/interval.ts';
import { ATTRIBUTE_NAMES, attributeText, SIGNAL_NAMES, SIGNALS, type Signals } from '../scoring/signals.ts';
import { ARBITRARY_NOW } from './arbitrary-profile.ts';

/** How far an interval extends below and above the true value: 0 is exact, `all` means unknown. */
type Blur = 'all' | { readonly below: number; readonly above: number };

/** Draws intervals that contain the true `signals` at {@link ARBITRARY_NOW}, from which bounds can be computed. */
export function arbitraryKnowledge(signals: Signals): fc.Arbitrary<Knowledge> {
  const blur: fc.Arbitrary<Blur> = fc.oneof(
    fc.constant({ below: 0, above: 0 }),
    fc.record({
      below: fc.double({ min: 0, max: 1, noNaN: true }),
      above: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.constant('all' as const),
  );
  return fc
    .record({
      signals: fc.array(blur, { minLength: SIGNAL_NAMES.length, maxLength: SIGNAL_NAMES.length }),
      ages: blur,
      unknownAges: fc.boolean(),
      attributes: fc.array(fc.boolean(), {
        minLength: ATTRIBUTE_NAMES.length,
        maxLength: ATTRIBUTE_NAMES.length,
      }),
      presence: fc.boolean(),
    })
    .map((hidden) => ({
      signal(name, missing) {
        const [low, high] = SIGNALS[name].range;
        const seen = widen(signals[name] ?? missing, hidden.signals[SIGNAL_NAMES.indexOf(name)] ?? 'all');
        return [Math.max(low, seen[0]), Math.min(high, seen[1])];
      },
      age(node) {
        const at = clockOf(node, signals);
        if (at === undefined) return { interval: [0, 7], unknown: hidden.unknownAges ? 'maybe' : 'always' };
        const [low, high] = widen(ageInDays(at, ARBITRARY_NOW), hidden.ages, 30);
        return { interval: [Math.max(0, low), high], unknown: hidden.unknownAges ? 'maybe' : 'never' };
      },
      attribute(name) {
        return hidden.attributes[ATTRIBUTE_NAMES.indexOf(name)] ? attributeText(signals, name) : undefined;
      },
      known(name) {
        return hidden.presence ? signals[name as keyof Signals] !== undefined : undefined;
      },
    }));
}

function widen(value: number, blur: Blur, unit = 1): Interval {
  if (blur === 'all') return [-Infinity, Infinity];
  return [value - blur.below * unit, value + blur.above * unit];
}
