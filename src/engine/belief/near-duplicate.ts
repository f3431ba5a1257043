import type { MemoryRecord } from '../../domain/memory.ts';
import { readStatement, saysAll } from '../../text/says-all.ts';

type Statement = Pick<MemoryRecord, 'content' | 'confidence'>;

/** Whether `kept` says all that `other` says, with at least the same confidence. See {@link saysAll}. */
export function saysAllOf(kept: Statement, other: Statement): boolean {
  return (
    kept.confidence >= other.confidence && saysAll(readStatement(kept.content), readStatement(other.content))
  );
}
