import {
  type ListResourcesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { VerbContext } from '../api/index.ts';
import { plainLine } from '../api/quote.ts';
import { beginningText } from '../api/sessions.ts';
import { operationOf } from '../api/verb.ts';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';
import type { Dialect } from './tool.ts';

const MEMORY = 'salience://memory/';
const CONTEXT = 'salience://context';
/** Most listed memories. Many clients fetch the whole list; all other memories are reachable by the template. */
const LISTED = 100;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    name: 'memory',
    title: 'A memory',
    description: 'One memory with all its fields',
    uriTemplate: `${MEMORY}{id}`,
    mimeType: 'application/json',
  },
];

/**
 * Lists the context, then the memories that were updated last. The list is empty if every question must name a scope,
 * because resources cannot.
 */
export async function listResources(memory: MemoryEngine): Promise<ListResourcesResult> {
  const page = await memory.list({ limit: LISTED }).catch((error: unknown) => {
    if (SalienceError.isInstance(error) && error.details['field'] === 'scope') return undefined;
    throw error;
  });
  if (!page) return { resources: [] };
  const { memories } = page;
  const context = {
    uri: CONTEXT,
    name: 'context',
    title: 'What matters now',
    description:
      'What a conversation begins with: summaries of earlier sessions, and the memories that matter without a question',
    mimeType: 'text/plain',
  };
  return { resources: [context, ...memories.map(resourceOf)] };
}

/** Reads a resource. Throws the protocol's error if it does not exist. */
export async function readResource(
  memory: MemoryEngine,
  uri: string,
  { viewOf }: Dialect,
  context: VerbContext,
): Promise<ReadResourceResult> {
  if (uri === CONTEXT) {
    return {
      contents: [
        { uri, mimeType: 'text/plain', text: await beginning(memory, viewOf?.(undefined), context) },
      ],
    };
  }
  const id = idOf(uri);
  const found = id === undefined ? undefined : await memory.get(id);
  if (!found) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(found, null, 2) }] };
}

/** Returns what starting a session would return, without starting one or writing anything. */
async function beginning(
  memory: MemoryEngine,
  view: ReturnType<NonNullable<Dialect['viewOf']>> | undefined,
  context: VerbContext,
): Promise<string> {
  const operation = { ...view, ...operationOf(context) };
  const { hits } = await memory.recall(undefined, {
    strategy: 'ambient',
    typesExclude: ['summary'],
    track: false,
    ...operation,
  });
  const { memories } = await memory.list({ types: ['summary'], limit: 20, ...operation });
  const summaries = memories.filter(
    ({ invalidatedAt, weight, effectiveWeight }) => invalidatedAt === undefined && effectiveWeight === weight,
  );
  return beginningText({ summaries: summaries.slice(0, 5), memories: hits.map((hit) => hit.memory) });
}

function idOf(uri: string): string | undefined {
  if (!uri.startsWith(MEMORY)) return undefined;
  try {
    return decodeURIComponent(uri.slice(MEMORY.length));
  } catch {
    return undefined;
  }
}

function resourceOf({
  id,
  title,
  content,
  type,
  updatedAt,
}: Memory): ListResourcesResult['resources'][number] {
  const line = plainLine(title ?? content);
  return {
    uri: MEMORY + encodeURIComponent(id),
    name: id,
    title: line.length > 80 ? `${line.slice(0, 79).trimEnd()}…` : line,
    description: plainLine(type),
    mimeType: 'application/json',
    annotations: { lastModified: updatedAt },
  };
}
