import { relationName } from '../domain/relation.ts';
import { type Fields, textOf, textsOf } from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, unusable } from './item.ts';
import type { LineReader } from './json-lines.ts';

/**
 * The file of the reference memory server of the Model Context Protocol: a line an entity with its observations, or a
 * relation of two entities, as github.com/modelcontextprotocol/servers, src/memory/index.ts (saveGraph) writes them.
 * An entity is a memory of type `entity`, each of its observations a fact with the entity as its title. A relation is a
 * fact that states it; it also links its entities, and itself with both.
 */
export const readGraphLine: LineReader = ({ fields, where }, options) => {
  if (fields['type'] === 'entity') return readEntity(fields, where, options);
  if (fields['type'] !== 'relation') return [unusable(where, 'is neither an entity nor a relation')];
  const [from, type, to] = [textOf(fields['from']), textOf(fields['relationType']), textOf(fields['to'])];
  if (from === undefined || type === undefined || to === undefined) {
    return [unusable(where, 'is a relation without from, relationType or to')];
  }
  return relationItems({ system: 'mcp-memory', where, from, type, to }, options);
};

/** Names of relations are words here, and anything in a file. */
function relationOf(type: string, statement: string): { relation?: { name: string; statedBy: string[] } } {
  const words = type
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 64)
    .toWellFormed()
    .trim();
  return words === ''
    ? {}
    : { relation: { name: relationName(words, 'relationType'), statedBy: [statement] } };
}

/** By what links find an entity. */
export function entityName(name: string): string {
  return `entity/${name}`;
}

export function isGraphLine(value: Fields): boolean {
  return (
    (value['type'] === 'entity' && 'entityType' in value && 'observations' in value) ||
    (value['type'] === 'relation' && 'relationType' in value && 'from' in value && 'to' in value)
  );
}

/** Two entities and what joins them: a fact that states it, and the links of the three. */
export function relationItems(
  relation: {
    readonly system: string;
    readonly where: string;
    readonly from: string;
    readonly type: string;
    readonly to: string;
  },
  options: SourceOptions,
): readonly ImportItem[] {
  const { system, where, from, type, to } = relation;
  const [whose, whom, itself] = [entityName(from), entityName(to), `relation/${from}/${type}/${to}`];
  const statements = foreignStatements(
    {
      system,
      where,
      key: ['relation', from, type, to],
      reference: itself,
      type: 'fact',
      content: `${from} ${type} ${to}`,
      metadata: { from, relation: type, to },
      names: [itself],
    },
    options,
  );
  return [
    ...statements,
    { kind: 'link', from: [whose], to: [whom], ...relationOf(type, itself) },
    { kind: 'link', from: [itself], to: [whose] },
    { kind: 'link', from: [itself], to: [whom] },
  ];
}

function readEntity(fields: Fields, where: string, options: SourceOptions): readonly ImportItem[] {
  const name = textOf(fields['name']);
  const { observations } = fields;
  if (name === undefined) return [unusable(where, 'is an entity without a name')];
  if (!Array.isArray(observations)) return [unusable(where, 'is an entity without a list of observations')];
  const kind = textOf(fields['entityType']);
  const common = {
    system: 'mcp-memory',
    where,
    reference: `entity/${name}`,
    title: name,
    names: [entityName(name)],
  };
  const tags = textsOf([kind]);
  const content = kind === undefined ? name : `${name} (${kind})`;
  const entity = foreignStatements(
    {
      ...common,
      key: ['entity', name],
      type: 'entity',
      content,
      tags,
      ...(kind === undefined ? {} : { kind }),
    },
    options,
  );
  const facts = observations.flatMap((value: unknown, index) => {
    const content = textOf(value);
    if (content === undefined) return unusable(where, `observation ${index + 1} is not a string`);
    return foreignStatements(
      {
        ...common,
        key: ['observation', name, content],
        type: 'fact',
        content,
        // Two that live in Leeds are two facts.
        apart: `${name}: ${content}`,
        tags,
      },
      options,
    );
  });
  return [...entity, ...facts];
}
