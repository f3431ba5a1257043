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
  return name.trim().slice(0, FIELDS.author.maxCharacters).trim().toWellFormed() || undefined;
}

/** A name as long as that field may be, without what no memory holds; nothing of it is missed. */
export function fitName(name: string, field: 'kind' | 'role' | 'sourceRef'): string | undefined {
  const kept = fitText(name, () => undefined);
  return kept.slice(0, FIELDS[field].maxCharacters).toWellFormed().trim() || undefined;
}

/** A topic as long as a memory's may be: two that begin alike are not the same. */
export function fitTopic(topic: string, lose: Lose): string | undefined {
  const kept = fitText(topic, lose).trim();
  if (kept.length <= FIELDS.topicKey.maxCharacters) return kept || undefined;
  lose('topics');
  return undefined;
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
  const whole = [...new Set(tags.map((tag) => fitText(tag, lose).trim()))].filter((tag) => tag !== '');
  const own = whole.filter((tag) => !added.includes(tag));
  const room = Math.max(0, FIELDS.tags.maxItems - new Set(added).size);
  const kept = own.filter((tag) => tag.length <= FIELDS.tags.maxCharacters).slice(0, room);
  for (let lost = kept.length; lost < own.length; lost++) lose('tags');
  return kept;
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

/** A change is never before the creation; some systems write the two times with different clocks. */
export function fitUpdated(
  createdAt: string | Date | undefined,
  updatedAt: string | Date | undefined,
): string | Date | undefined {
  if (createdAt === undefined || updatedAt === undefined) return updatedAt;
  try {
    return parseInstant(updatedAt) < parseInstant(createdAt) ? undefined : updatedAt;
  } catch {
    // The engine says which of the two is no time.
    return updatedAt;
  }
}
