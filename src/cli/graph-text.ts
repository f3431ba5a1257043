import type { GraphPath, Neighbourhood, StatedRelation } from '../index.ts';
import { plainLine } from './terminal-text.ts';

/** Formats a neighbourhood as a tree. Each relation is drawn once, away from the entity in the middle. */
export function formatNeighbourhood({ entity, neighbours, relations }: Neighbourhood): string {
  const depths = new Map([[entity.id, 0], ...neighbours.map(({ id, depth }) => [id, depth] as const)]);
  const names = namesOf({ entity, neighbours });
  const lines = [names(entity.id)];
  const drawn = new Set<string>();
  const draw = (id: string, indent: string) => {
    const next = relations.filter(
      (each) =>
        (each.from === id || each.to === id) &&
        !drawn.has(each.id) &&
        depthOf(depths, other(each, id)) >= depthOf(depths, id),
    );
    for (const { id: relation } of next) drawn.add(relation);
    for (const [at, each] of next.entries()) {
      const isLast = at === next.length - 1;
      const away = other(each, id);
      const arrow = arrowFrom(id, each);
      lines.push(`${indent}${isLast ? '└' : '├'}${arrow}${names(away)}${whenOf(each)}`);
      if (depthOf(depths, away) > depthOf(depths, id)) draw(away, `${indent}${isLast ? '  ' : '│ '}`);
    }
  };
  draw(entity.id, '');
  return lines.join('\n');
}

/** Formats a path on one line. */
export function formatPath({ ids, relations }: GraphPath, nameOf: (id: string) => string): string {
  return ids
    .map((id, at) => {
      const next = relations[at];
      return `${plainLine(nameOf(id))}${next ? ` ${arrowFrom(id, next)}` : ''}`;
    })
    .join('');
}

/** Draws a relation in the direction in which it is walked. */
function arrowFrom(id: string, { from, name }: StatedRelation): string {
  return from === id ? `─ ${plainLine(name)} → ` : `← ${plainLine(name)} ─ `;
}

/** Formats a neighbourhood in the language of Graphviz. */
export function neighbourhoodAsDot(around: Neighbourhood): string {
  const names = namesOf(around);
  const ids = [around.entity.id, ...around.neighbours.map(({ id }) => id)];
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;
  return [
    'digraph {',
    ...ids.map((id) => `  ${quoted(id)} [label=${quoted(names(id))}];`),
    ...around.relations.map(
      ({ from, name, to }) => `  ${quoted(from)} -> ${quoted(to)} [label=${quoted(name)}];`,
    ),
    '}',
  ].join('\n');
}

/** Formats a neighbourhood as a Mermaid flowchart. */
export function neighbourhoodAsMermaid(around: Neighbourhood): string {
  const names = namesOf(around);
  const ids = [around.entity.id, ...around.neighbours.map(({ id }) => id)];
  const key = new Map(ids.map((id, at) => [id, `n${at}`]));
  // Mermaid has HTML entities but no escapes.
  const quoted = (text: string) =>
    `"${text.replace(/[^\p{L}\p{N} .,_-]/gu, (each) => `#${each.codePointAt(0)};`)}"`;
  return [
    'graph LR',
    ...ids.map((id) => `  ${key.get(id)}[${quoted(names(id))}]`),
    ...around.relations.map(({ from, name, to }) => `  ${key.get(from)} -->|${quoted(name)}| ${key.get(to)}`),
  ].join('\n');
}

function namesOf({
  entity,
  neighbours,
}: Pick<Neighbourhood, 'entity' | 'neighbours'>): (id: string) => string {
  const names = new Map(neighbours.map(({ id, name }) => [id, name ?? id]));
  names.set(entity.id, entity.title ?? entity.id);
  return (id) => plainLine(names.get(id) ?? id);
}

function other({ from, to }: StatedRelation, id: string): string {
  return from === id ? to : from;
}

function depthOf(depths: ReadonlyMap<string, number>, id: string): number {
  return depths.get(id) ?? Number.POSITIVE_INFINITY;
}

function whenOf({ validFrom, validUntil }: StatedRelation): string {
  const day = (at: string) => at.slice(0, 10);
  const parts = [validFrom && `from ${day(validFrom)}`, validUntil && `until ${day(validUntil)}`];
  const said = parts.filter((each) => each !== undefined);
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
}
