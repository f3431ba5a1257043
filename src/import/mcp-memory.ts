import { relationName } from '../domain/relation.ts';
import { type Fields, textOf, textsOf } from './fields.ts';
import { foreignStatements, type ImportItem, type SourceOptions, unusable } from './item.ts';
import type { LineReader } from './json-lines.ts';

/**
 * Reads a line of the file of the reference memory server of the Model Context Protocol: an entity with its
 * observations, or a relation of two entities, as github.com/modelcontextprotocol/servers, src/memory/index.ts
 * (saveGraph) writes them. An entity becomes a memory of type `entity`, and each observation a fact with the entity as
 * its title. A relation becomes a fact that states it, with links between its entities and from the fact to both.
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

/**
 * Returns the named relation of a link. A file may name it in any way; only the words are kept. None if no word is
 * left.
 */
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

/** Returns the name by which links refer to an entity. */
export function entityName(name: string): string {
  return `entity/${name}`;
}

export function isGraphLine(value: Fields): boolean {
  return (
    (value['type'] === 'entity' && 'entityType' in value && 'observations' in value) ||
    (value['type'] === 'relation' && 'relationType' in value && 'from' in value && 'to' in value)
  );
}

/** Returns the items of a relation of two entities: the fact that states it, and the links between the three. */
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
        // The same observation about two entities is two facts.
        apart: `${name}: ${content}`,
        tags,
      },
      options,
    );
  });
  return [...entity, ...facts];
}
