import { dayOf, named, quoted } from './quote.ts';
import type { MemoryOutput } from './schemas.ts';

/** Formats a memory in one line: its properties, then its text. */
export function memoryLine(memory: MemoryOutput, text = memory.content): string {
  const { id, type, scope, updatedAt, tags, title, validUntil } = memory;
  // The generated title of a summary repeats the beginning of its text.
  const shown = title === undefined || text.startsWith(title.replace(/\.{3}$/, '')) ? undefined : title;
  const facts = [
    named(type),
    ...(scope === 'global' ? [] : [named(scope)]),
    dayOf(updatedAt),
    ...(tags.length === 0 ? [] : [tags.map((tag) => `#${named(tag)}`).join(' ')]),
    ...(validUntil === undefined ? [] : [`until ${dayOf(validUntil)}`]),
  ];
  return `[${named(id)}] ${facts.join(' · ')}: ${shown === undefined ? '' : `${quoted(shown)}: `}${quoted(text)}`;
}
