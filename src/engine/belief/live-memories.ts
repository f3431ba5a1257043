import { type Instant, parseInstant } from '../../domain/time.ts';
import { beliefStates, grouped } from '../../store/belief-state.ts';
import { isBelieved, isLive } from '../../store/eligibility.ts';
import type { Memory } from '../memory.ts';

/**
 * Returns the memories of a space that a recall can still return. Leaves out superseded, consolidated, invalidated,
 * expired and ended memories: a dataset does not store these states, so an evaluation would find them again. Also
 * leaves out stubs, whose text is gone. Cold memories stay: they have their text and are true.
 */
export function liveMemories(memories: readonly Memory[], now: Instant): readonly Memory[] {
  const records = new Map(memories.map((memory) => [memory.id, withInstants(memory)]));
  const successors = grouped(
    memories.flatMap(({ id, supersedes }) => supersedes.map((older) => [older, id] as const)),
  );
  const states = beliefStates({ successors, newer: new Map() }, (id) => {
    const record = records.get(id);
    return record !== undefined && isBelieved(record, {}, now);
  });
  return memories.filter(({ id, tier }) => {
    const superseded = states.get(id)?.superseded === true;
    return tier !== 'stub' && isLive(records.get(id)!, superseded, now);
  });
}

function withInstants(memory: Memory) {
  const { scope, type, tier, core } = memory;
  return {
    ...{ scope, type, tier, core },
    createdAt: parseInstant(memory.createdAt),
    validFrom: instantOf(memory.validFrom),
    validUntil: instantOf(memory.validUntil),
    expiresAt: instantOf(memory.expiresAt),
    invalidatedAt: instantOf(memory.invalidatedAt),
    consolidatedAt: instantOf(memory.consolidatedAt),
  };
}

function instantOf(time: string | undefined): Instant | undefined {
  return time === undefined ? undefined : parseInstant(time);
}
