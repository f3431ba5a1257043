import { type Instant, parseInstant } from '../domain/time.ts';
import type { Memory } from '../index.ts';
import type { Context } from './context.ts';
import { formatFields, formatTable } from './table.ts';
import { cutToWidth, displayWidth, plainBlock, plainLine } from './terminal-text.ts';
import { formatAge, plural } from './units.ts';

/** Formats all fields of a memory, with its content last. */
export function formatMemory(memory: Memory, { now, paint }: Pick<Context, 'now' | 'paint'>): string {
  const time = (at: string | undefined) => at && `${at} (${formatAge(parseInstant(at), now)})`;
  const metadata = JSON.stringify(memory.metadata);
  const fields = formatFields([
    ['id', memory.id],
    ['space', memory.space],
    ['scope', memory.scope],
    ['type', memory.type],
    ['title', memory.title],
    ['tags', listed(memory.tags)],
    ['metadata', metadata === '{}' ? undefined : metadata],
    ['topic key', memory.topicKey],
    ['kind', memory.kind],
    ['aliases', listed(memory.aliases ?? [])],
    ['relations', listed((memory.relations ?? []).map(({ from, name, to }) => `${from} ${name} ${to}`))],
    ['session', memory.sessionId],
    ['created', time(memory.createdAt)],
    ['updated', time(memory.updatedAt)],
    ['accessed', time(memory.lastAccessedAt)],
    ['valid from', memory.validFrom],
    ['valid until', memory.validUntil],
    ['expires', memory.expiresAt],
    ['invalidated', memory.invalidatedAt],
    ['because', memory.invalidReason],
    ['cold since', memory.coldSince],
    ['consolidated', memory.consolidatedAt],
    ['importance', `${memory.importance} (${memory.importanceSource})`],
    ['confidence', String(memory.confidence)],
    ['usefulness', String(memory.usefulness)],
    [
      'weight',
      memory.effectiveWeight === memory.weight
        ? String(memory.weight)
        : `${memory.weight}, superseded: ${memory.effectiveWeight}`,
    ],
    ['stability', String(memory.stability)],
    ['accesses', `${memory.accessCount} in ${plural(memory.sessions.length, 'session')}`],
    ['revisions', String(memory.revisionCount)],
    ['tier', memory.core ? `${memory.tier}, core` : memory.tier],
    ['supersedes', listed(memory.supersedes)],
    [
      'author',
      memory.author === undefined || memory.role === undefined
        ? (memory.author ?? memory.role)
        : `${memory.author} (${memory.role})`,
    ],
    ['source', memory.sourceRef === undefined ? memory.source : `${memory.source}: ${memory.sourceRef}`],
    ['derived from', listed(memory.derivedFrom)],
  ]);
  return `${paint('dim', fields)}\n\n${plainBlock(memory.content)}`;
}

function listed(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join(', ');
}

/** The columns of a list, besides the text. */
const FACTS: readonly {
  readonly title: string;
  readonly align?: 'right';
  readonly of: (memory: Memory, now: Instant) => string;
}[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'type', of: ({ type }) => type },
  { title: 'scope', of: ({ scope }) => scope },
  { title: 'updated', align: 'right', of: ({ updatedAt }, now) => formatAge(parseInstant(updatedAt), now) },
];

/** Columns that a narrow terminal omits, in this order, until `LEAST_TEXT` columns are left for the text. */
const DISPENSABLE = ['scope', 'updated', 'type'];
const LEAST_TEXT = 24;

/** Formats one line per memory; two if the terminal is too narrow for id and text side by side. */
export function formatMemories(
  memories: readonly Memory[],
  { now, columns }: Pick<Context, 'now' | 'columns'>,
): string {
  const facts = FACTS.map(({ title, align, of }) => {
    const cells = memories.map((memory) => plainLine(of(memory, now)));
    const width = cells.reduce((most, cell) => Math.max(most, displayWidth(cell)), title.length);
    return { title, align, cells, width };
  });
  const roomFor = (shown: typeof facts) => columns - shown.reduce((sum, { width }) => sum + width + 2, 0);
  let shown = facts;
  for (const title of DISPENSABLE) {
    if (roomFor(shown) < LEAST_TEXT) shown = shown.filter((each) => each.title !== title);
  }
  if (roomFor(shown) < LEAST_TEXT) {
    return memories
      .flatMap((memory, at) => [
        cutToWidth(`${facts[0]!.cells[at]} · ${facts[1]!.cells[at]}`, columns),
        `  ${cutToWidth(plainLine(lineOf(memory)), columns - 2)}`,
      ])
      .join('\n');
  }
  return formatTable(
    [...shown, { title: 'content' }],
    memories.map((memory, at) => [...shown.map(({ cells }) => cells[at]!), lineOf(memory)]),
    columns,
  );
}

/** Joins title and content into one text. */
export function lineOf({ title, content }: Pick<Memory, 'title' | 'content'>): string {
  return title === undefined || content.startsWith(title) ? content : `${title}: ${content}`;
}
