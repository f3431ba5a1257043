import { parseInstant } from '../domain/time.ts';
import type { Memory } from '../index.ts';
import type { Context } from './context.ts';
import { formatFields, formatTable } from './table.ts';
import { plainBlock } from './terminal-text.ts';
import { formatAge, plural } from './units.ts';

/** Everything about a memory, its content at the end. */
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

/** One line a memory. */
export function formatMemories(
  memories: readonly Memory[],
  { now, columns }: Pick<Context, 'now' | 'columns'>,
): string {
  const rows = memories.map((memory) => [
    memory.id,
    memory.type,
    memory.scope,
    formatAge(parseInstant(memory.updatedAt), now),
    lineOf(memory),
  ]);
  const titles = ['id', 'type', 'scope', 'updated', 'content'];
  return formatTable(
    titles.map((title) => ({ title, align: title === 'updated' ? 'right' : 'left' })),
    rows,
    columns,
  );
}

/** Title and content together, as one text. */
export function lineOf({ title, content }: Pick<Memory, 'title' | 'content'>): string {
  return title === undefined || content.startsWith(title) ? content : `${title}: ${content}`;
}
