import { type DocumentFormat, partsOfList, partsOfOther } from './document-format.ts';
import {
  type Fields,
  fieldsOf,
  idOf,
  isFields,
  joinMetadata,
  listOf,
  metadataIn,
  metadataOf,
  textOf,
  textsOf,
  timeOf,
} from './fields.ts';
import { foreignStatements, type ImportItem, leftOutField, type SourceOptions, unusable } from './item.ts';

/**
 * An agent file of Letta (`.af`), in the form of github.com/letta-ai/letta, letta/schemas/agent_file.py, or in the
 * older form, letta/serialize_schemas/pydantic_agent_schema.py. Or the list of an agent's archival memory as GET
 * /v1/agents/{id}/archival-memory returns it according to docs.letta.com; agent files do not hold it
 * (github.com/letta-ai/agent-file, README.md).
 */
export const letta: DocumentFormat = {
  holds: 'an agent file of Letta, with "agents" and "blocks", or a list of archival passages with a "text"',
  recognises: (document) =>
    Array.isArray(document)
      ? document.some((each) => isPassage(fieldsOf(each)))
      : blocksOf(fieldsOf(document)) !== undefined,
  partsOf(document) {
    if (Array.isArray(document)) return partsOfList(document, '', readPassage);
    const fields = fieldsOf(document);
    const blocks = blocksOf(fields);
    if (!blocks) return undefined;
    return [
      ...partsOfList(blocks.list, blocks.at, blockReader(blocks)),
      ...partsOfList(listOf(fields['agents'] ?? [fields]), 'agents', messagesOf),
      ...partsOfOther(fields['files'], 'files', () => [{ kind: 'left-out', what: 'files of an agent' }]),
    ];
  },
};

/** Returns a reader of blocks. Blocks with the same agents and label are told apart by their place among them. */
function blockReader({ list, agentOf }: Blocks) {
  const places = new Map<unknown, number>();
  const counts = new Map<string, number>();
  for (const block of list) {
    const key = JSON.stringify([agentOf(fieldsOf(block)), fieldsOf(block)['label']]);
    const place = counts.get(key) ?? 0;
    counts.set(key, place + 1);
    places.set(block, place);
  }
  return (block: unknown, where: string, options: SourceOptions) =>
    readBlock(block, { agent: agentOf(fieldsOf(block)), place: places.get(block) ?? 0 }, where, options);
}

/** Leaves out the messages of an agent. They are its history, which `observe` can turn into memories. */
function messagesOf(agent: unknown): readonly ImportItem[] {
  const told = listOf(fieldsOf(agent)['messages']).filter((each) => fieldsOf(each)['role'] !== 'system');
  return told.map(() => ({ kind: 'left-out', what: 'messages of an agent' }));
}

interface Blocks {
  readonly list: readonly unknown[];
  readonly at: string;
  agentOf(block: Fields): string | undefined;
}

/** Finds the blocks. They are identified by the names of their agents, because ids in an agent file count from 0. */
function blocksOf({ agents, blocks, core_memory: core, agent_type: type, name }: Fields): Blocks | undefined {
  if (Array.isArray(core) && type !== undefined) {
    return { list: core, at: 'core_memory', agentOf: () => textOf(name) };
  }
  if (!Array.isArray(agents) || !Array.isArray(blocks)) return undefined;
  const agentOf = (block: Fields) =>
    agents
      .map(fieldsOf)
      .filter((agent) => listOf(agent['block_ids']).includes(block['id']))
      .flatMap((agent) => textOf(agent['name']) ?? [])
      .join(', ') || undefined;
  return { list: blocks, at: 'blocks', agentOf };
}

function isPassage(fields: Fields): boolean {
  return 'text' in fields && ('archive_id' in fields || 'embedding_config' in fields);
}

/** The block about the user is a profile; the agent's own and all others are context. */
function readBlock(
  value: unknown,
  { agent, place }: { readonly agent: string | undefined; readonly place: number },
  where: string,
  options: SourceOptions,
): readonly ImportItem[] {
  const block = fieldsOf(value);
  const label = textOf(block['label']);
  if (label === undefined || typeof block['value'] !== 'string') {
    return [unusable(where, 'is not a block with a label and a value')];
  }
  // Agents start with empty blocks.
  const content = textOf(block['value']);
  if (content === undefined) return [];
  const { joined, hidden } = joinMetadata(metadataOfRecord(block), {
    agent,
    description: block['description'],
  });
  const statements = foreignStatements(
    {
      system: 'letta',
      where,
      key: ['block', agent, label, ...(place > 0 ? [place] : [])],
      reference: ['block', ...(agent === undefined ? [] : [agent]), label].join('/'),
      type: label === 'human' ? 'profile' : 'context',
      title: agent === undefined ? label : `${agent} › ${label}`,
      content,
      tags: [label],
      ...metadataOf(joined),
      createdAt: timeOf(block['created_at']),
      updatedAt: timeOf(block['updated_at']),
    },
    options,
  );
  return [...statements, ...hidden.map(leftOutField)];
}

function readPassage(value: unknown, where: string, options: SourceOptions): readonly ImportItem[] {
  if (!isFields(value)) return [unusable(where, 'is not an object')];
  if (value['is_deleted'] === true) return [{ kind: 'left-out', what: 'deleted passages' }];
  const content = textOf(value['text']);
  if (content === undefined) return [unusable(where, 'has no text')];
  const id = idOf(value['id']);
  const { joined, hidden } = joinMetadata(metadataOfRecord(value), {
    archive: value['archive_id'],
    file: value['file_name'],
  });
  const statements = foreignStatements(
    {
      system: 'letta',
      where,
      key: ['passage', id ?? content],
      reference: id && `passage/${id}`,
      type: 'fact',
      content,
      tags: textsOf(value['tags']),
      ...metadataOf(joined),
      createdAt: timeOf(value['created_at']),
      updatedAt: timeOf(value['updated_at']),
    },
    options,
  );
  return [...statements, ...hidden.map(leftOutField)];
}

/** Earlier versions wrote `metadata_`. */
function metadataOfRecord(record: Fields): Fields {
  return metadataIn(record['metadata'] ?? record['metadata_']);
}
