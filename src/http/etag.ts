import { createHash } from 'node:crypto';
import { SalienceError } from '../domain/errors.ts';
import type { Instant } from '../domain/time.ts';

interface Tagged {
  readonly revisionCount: number;
  readonly updatedAt: string | Instant;
  readonly importance: number;
  readonly invalidatedAt?: string | Instant | undefined;
}

/**
 * Returns the tag of a memory: its revision, then a hash of all its fields. Use counters change the hash but not the
 * revision: If-None-Match compares the whole tag, If-Match only the revision.
 */
export function etagOf(memory: Tagged): string {
  return `"${revisionOf(memory)}.${hashOf(memory, 16)}"`;
}

/** Whether an If-None-Match header contains this tag. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = tagsOf(ifNoneMatch);
  return tags.includes('*') || tags.includes(etag);
}

/** Throws `precondition_failed` unless a tag in If-Match has the current revision. Use counters do not matter. */
export function checkRevision(ifMatch: string, memory: Tagged): void {
  const revision = `"${revisionOf(memory)}.`;
  if (tagsOf(ifMatch).some((tag) => tag === '*' || tag.startsWith(revision))) return;
  throw new SalienceError('precondition_failed', 'the memory was changed since it was read; read it again', {
    details: { revisionCount: memory.revisionCount },
  });
}

/**
 * Returns the revision of a memory. It includes `updatedAt`, because a memory that was forgotten and created again
 * starts at revision 1, and a hash of importance and invalidation, which change without a new revision.
 */
function revisionOf({ revisionCount, updatedAt, importance, invalidatedAt }: Tagged): string {
  const judged = [importance, invalidatedAt === undefined ? null : millisecondsOf(invalidatedAt)];
  return `${revisionCount}-${millisecondsOf(updatedAt).toString(36)}-${hashOf(judged, 8)}`;
}

function millisecondsOf(time: string | Instant): number {
  return new Date(time).getTime();
}

function hashOf(value: unknown, characters: number): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, characters);
}

function tagsOf(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
