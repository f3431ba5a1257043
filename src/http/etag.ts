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
 * The tag of a memory: its revision, then a hash of all its fields. Use counts in fields of its own: who wants to know
 * whether anything is new compares the whole, who wants to change what was read compares the revision.
 */
export function etagOf(memory: Tagged): string {
  return `"${revisionOf(memory)}.${hashOf(memory, 16)}"`;
}

/** Whether one of the tags of an If-None-Match is this one. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = tagsOf(ifNoneMatch);
  return tags.includes('*') || tags.includes(etag);
}

/** Throws `precondition_failed` unless a tag of If-Match is of this revision, whatever use has counted since. */
export function checkRevision(ifMatch: string, memory: Tagged): void {
  const revision = `"${revisionOf(memory)}.`;
  if (tagsOf(ifMatch).some((tag) => tag === '*' || tag.startsWith(revision))) return;
  throw new SalienceError('precondition_failed', 'the memory was changed since it was read; read it again', {
    details: { revisionCount: memory.revisionCount },
  });
}

/**
 * A memory that was forgotten and made anew starts at revision 1 again: its clock tells them apart. How important it is and
 * whether it is true are judged without a revision.
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
