import { dayOf, named, quoted } from './quote.ts';
import type { MemoryOutput } from './schemas.ts';

/** A memory in one line: what it is, then its text. */
export function memoryLine(memory: MemoryOutput, text = memory.content): string {
  const { id, type, scope, updatedAt, tags, title, validUntil } = memory;
  const facts = [
    named(type),
    ...(scope === 'global' ? [] : [named(scope)]),
    dayOf(updatedAt),
    ...(tags.length === 0 ? [] : [tags.map((tag) => `#${named(tag)}`).join(' ')]),
    ...(validUntil === undefined ? [] : [`until ${dayOf(validUntil)}`]),
  ];
  return `[${named(id)}] ${facts.join(' · ')}: ${title === undefined ? '' : `${quoted(title)}: `}${quoted(text)}`;
}
