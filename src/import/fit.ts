import { metadata as checkedMetadata } from '../domain/check.ts';
import { FIELDS } from '../domain/fields.ts';
import type { JsonValue, Metadata } from '../domain/memory.ts';
import { parseInstant } from '../domain/time.ts';

/** All control characters but tab, line feed and carriage return. */
const REFUSED = /[^\P{Cc}\t\n\r]/gu;

/** Metadata may have 16 KiB by default; keys and numbers are written longer in some stores. */
const MAX_METADATA_BYTES = 12 * 1024;

/** Called for each thing that does not fit, as people call it, in the plural. */
export type Lose = (what: string) => void;

/** A title as long as a memory's may be. */
export function fitTitle(title: string): string | undefined {
  const trimmed = title.trim();
  if (trimmed === '') return undefined;
  const most = FIELDS.title.maxCharacters;
  return trimmed.length <= most ? trimmed : `${trimmed.slice(0, most - 1).toWellFormed()}…`;
}

/** A name as long as an author's may be. */
export function fitAuthor(name: string): string | undefined {
  return fitName(name, FIELDS.author.maxCharacters);
}

/** As much of a name as there is room for; `undefined` for none. */
export function fitName(name: string, most: number): string | undefined {
  return name.trim().slice(0, most).trim().toWellFormed() || undefined;
}

/** A text without what no memory holds: control characters, and halves of surrogate pairs. */
export function fitText(text: string, lose: Lose): string {
  const kept = text.toWellFormed().replaceAll(REFUSED, '');
  if (kept.length < text.length) lose('control characters');
  return kept;
}

/** Tags as short, and as many, as a memory's may be, beside those that every statement of the import gets. */
export function fitTags(
  tags: readonly string[],
  added: readonly string[] = [],
  lose: Lose,
): readonly string[] {
  const distinct = new Set(tags.map((tag) => fitText(tag, lose)).filter((tag) => tag.trim() !== ''));
  const fitting = [...distinct].filter((tag) => tag.length <= FIELDS.tags.maxCharacters);
  const room = FIELDS.tags.maxItems - new Set(added).size;
  const kept = fitting.filter((tag) => !added.includes(tag)).slice(0, Math.max(0, room));
  for (const tag of distinct) if (!kept.includes(tag) && !added.includes(tag)) lose('tags');
  return kept;
}

/** A topic is known again by its key: a part of a long one would be another topic. */
export function fitTopic(key: string, lose: Lose): string | undefined {
  const kept = fitText(key, lose);
  if (kept.trim() === '') return undefined;
  if (kept.length <= FIELDS.topicKey.maxCharacters) return kept;
  lose('topics');
  return undefined;
}

/** As much of the metadata, in its order, as a memory may have, without what no memory may have. */
export function fitMetadata(metadata: Metadata, lose: Lose): Metadata {
  let room = MAX_METADATA_BYTES;
  const kept: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(metadata)) {
    const bytes = isStorable(name, value) ? Buffer.byteLength(JSON.stringify([name, value])) : Infinity;
    if (bytes > room) {
      lose(`fields "${name}"`);
      continue;
    }
    room -= bytes;
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

function isStorable(name: string, value: JsonValue): boolean {
  try {
    checkedMetadata(Object.fromEntries([[name, value]]), 'metadata');
    return true;
  } catch {
    return false;
  }
}

/**
 * When a record was changed last. One that never was is as old as its creation, so that what was corrected here since
 * is newer; and a change is never before the creation: some systems write the two times with different clocks.
 */
export function fitUpdated(
  createdAt: string | Date | undefined,
  updatedAt: string | Date | undefined,
): string | Date | undefined {
  if (createdAt === undefined || updatedAt === undefined) return updatedAt ?? createdAt;
  try {
    return parseInstant(updatedAt) < parseInstant(createdAt) ? createdAt : updatedAt;
  } catch {
    // The engine says which of the two is no time.
    return updatedAt;
  }
}
