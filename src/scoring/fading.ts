import type { RetentionFading } from '../domain/settings.ts';
import { type Instant, MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { evaluate } from './evaluate.ts';
import type { Node } from './operators/index.ts';
import { type ResolvedProfile, resolveProfile } from './profile.ts';
import { builtinProfile } from './profiles/index.ts';
import type { Signals } from './signals.ts';

/** The shape of forgetting: the parameter of the strategy `retention`. */
type Curve = RetentionFading['curve'];

/** Returns R, the retention of a memory at a moment: see `retention` in helpers. */
export function retentionAt(signals: Signals, now: Instant, curve: Curve = 'exponential'): number {
  return evaluate(part('retention', curve), signals, now);
}

/**
 * Whether a memory has faded to its floor and stayed there for `days`. An unused memory only fades, so it is enough
 * that it was at its floor `days` ago: no maintenance run needs to be counted.
 */
export function isAtFloor(
  signals: Signals,
  now: Instant,
  days: number,
  curve: Curve = 'exponential',
): boolean {
  const then = now - days * MILLISECONDS_PER_DAY;
  return retentionAt(signals, then, curve) <= evaluate(part('floor', curve), signals, then);
}

/** A part of the retention profile. */
function part(name: 'retention' | 'floor', curve: Curve): Node {
  let parts = partsOf.get(curve);
  if (!parts) {
    parts = resolveProfile(builtinProfile('retention'), { curve }).parts;
    partsOf.set(curve, parts);
  }
  return parts[name] as Node;
}

/** Cached, because every hit asks for it. */
const partsOf = new Map<Curve, ResolvedProfile['parts']>();
