import { metadata as checkedMetadata } from '../domain/check.ts';
import { FIELDS } from '../domain/fields.ts';
import type { JsonValue, Metadata } from '../domain/memory.ts';
import { parseInstant } from '../domain/time.ts';

/** All control characters except tab, line feed and carriage return. */
const REFUSED = /[^\P{Cc}\t\n\r]/gu;

/** Lower than the default limit of 16 KiB, because some stores write keys and numbers in a longer form. */
const MAX_METADATA_BYTES = 12 * 1024;

/** Called for each thing that does not fit. `what` is a plural noun, such as `tags`. */
export type Lose = (what: string) => void;

/** Trims a title and cuts it to the limit of a memory, with an ellipsis. */
export function fitTitle(title: string): string | undefined {
  const trimmed = title.trim();
  if (trimmed === '') return undefined;
  const most = FIELDS.title.maxCharacters;
  return trimmed.length <= most ? trimmed : `${trimmed.slice(0, most - 1).toWellFormed()}…`;
}

/** Cuts a name to the limit of `author`. */
export function fitAuthor(name: string): string | undefined {
  return fitName(name, FIELDS.author.maxCharacters);
}

/** Trims a name and cuts it to `most` characters; `undefined` if nothing is left. */
export function fitName(name: string, most: number): string | undefined {
  return name.trim().slice(0, most).trim().toWellFormed() || undefined;
}

/** Removes control characters from a text, and replaces lone surrogates with U+FFFD: no memory may hold either. */
export function fitText(text: string, lose: Lose): string {
  const kept = text.toWellFormed().replaceAll(REFUSED, '');
  if (kept.length < text.length) lose('control characters');
  return kept;
}

/** Returns the tags that fit beside `added`, the tags of the whole import. Drops tags that are too long or too many. */
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

/** Returns the key of a topic, or `undefined` if it is too long: a part of it would be another topic. */
export function fitTopic(key: string, lose: Lose): string | undefined {
  const kept = fitText(key, lose);
  if (kept.trim() === '') return undefined;
  if (kept.length <= FIELDS.topicKey.maxCharacters) return kept;
  lose('topics');
  return undefined;
}

/** Keeps the entries of the metadata, in their order, that are valid and fit into the limit. */
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
 * Returns when a record was last changed. Without `updatedAt` this is `createdAt`, so that a correction made here since
 * is newer. An `updatedAt` before `createdAt` is raised to it: some systems write the two with different clocks.
 */
export function fitUpdated(
  createdAt: string | Date | undefined,
  updatedAt: string | Date | undefined,
): string | Date | undefined {
  if (createdAt === undefined || updatedAt === undefined) return updatedAt ?? createdAt;
  try {
    return parseInstant(updatedAt) < parseInstant(createdAt) ? createdAt : updatedAt;
  } catch {
    // The engine reports which of the two is invalid.
    return updatedAt;
  }
}
