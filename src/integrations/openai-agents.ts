/**
 * Memory as the session of the OpenAI Agents SDK.
 *
 * @module
 */

import type { AgentInputItem, Session } from '@openai/agents-core';
import { callback, checkMemory, invalidArgument, text } from '../domain/check.ts';
import { isPlain, keysOf, onlyKeys } from '../domain/options.ts';
import { redactPrivate } from '../domain/redaction.ts';
import { parseScope } from '../domain/scope.ts';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';
import { forgetFound } from './forget-found.ts';
import { keptJson, readable } from './kept-json.ts';

export interface MemorySessionOptions {
  /**
   * At most 100 characters, together with the scope if that is not `global`. The same id in the same scope continues
   * the same conversation. Default is a random id.
   */
  readonly sessionId?: string | undefined;
  /** The scope of the items. Default is `global`. */
  readonly scope?: string | undefined;
  /** Default is the system's clock. */
  readonly clock?: (() => number) | undefined;
}

const optionKeys = keysOf<MemorySessionOptions>()({ sessionId: true, scope: true, clock: true });

/** Most characters of the prefix of ids, which is the scope and the session id. */
const MOST_NAME = 100;

/** The type of the memories that hold items of a conversation. */
const MESSAGE = 'message';

/**
 * Creates a session for `run(agent, input, { session })`. Each item is a memory of type `message`, with the role of its
 * speaker, so other conversations can recall it later. Items come back in order and unchanged, except that text in `<private>…</private>`
 * is never stored. Popped and cleared items are forgotten for good. A long item takes several memories, and is left out
 * once one of them is forgotten.
 *
 * Several processes may add to one session: each batch of items stays together.
 *
 * @example
 * ```ts
 * import { Agent, run } from '@openai/agents-core';
 * import { memorySession } from 'salience/openai-agents';
 * const agent = new Agent({ name: 'Assistant', instructions: 'Answer in one sentence.' });
 * const session = memorySession(memory, { sessionId: 'chat-1' });
 * await run(agent, 'What is my name?', { session });
 * ```
 */
export function memorySession(memory: MemoryEngine, options: MemorySessionOptions = {}): Session {
  checkMemory(memory);
  onlyKeys(options, optionKeys, 'memorySession');
  const { sessionId = crypto.randomUUID(), scope = 'global', clock = Date.now } = options;
  text(sessionId, 'sessionId');
  parseScope(scope);
  callback(clock, 'clock');
  const name = nameOf(sessionId, scope);
  const length = scope === 'global' ? sessionId.length : scope.length + 1 + sessionId.length;
  if (length > MOST_NAME) {
    throw new SalienceError(
      'invalid_argument',
      `sessionId: 1–${MOST_NAME} characters are needed, together with the scope`,
      { details: { field: 'sessionId' } },
    );
  }

  /** Returns the memories of the session, in order. */
  async function kept(): Promise<readonly Memory[]> {
    const memories: Memory[] = [];
    let cursor: string | undefined;
    do {
      const page = await memory.list({
        types: [MESSAGE],
        metadata: { session: sessionId },
        inScope: scope,
        limit: 1000,
        count: false,
        cursor,
      });
      memories.push(...page.memories);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return memories.sort((a, b) => positionOf(a) - positionOf(b) || partOf(a) - partOf(b));
  }

  async function insert(items: readonly AgentInputItem[], from: number, last: Memory | undefined) {
    // Each item is a millisecond later than the one before, so that `timeline` shows the neighbours in the
    // conversation.
    const at = Math.max(clock(), last ? Date.parse(last.createdAt) + 1 : 0);
    // Imported, because `remember` would merge repeated statements.
    await memory.importMemories(
      items.flatMap((item, index) => {
        const position = from + index;
        if (!isPlain(item)) throw invalidArgument(`items[${index}]`, 'expected an item of a conversation');
        const kept = keptJson(item, `items[${index}]`);
        const { content, importance, role } = statementOf(kept, `items[${index}]`);
        return partsOf(kept).map((each, part) => {
          const id = `${name}:${position}`;
          return {
            id: part === 0 ? id : `${id}.${part}`,
            type: MESSAGE,
            content: part === 0 ? content : `part ${part + 1} of ${id}`,
            role,
            importance: part === 0 ? importance : 0,
            scope,
            sessionId,
            metadata: { session: sessionId, position, ...(part === 0 ? {} : { part }), item: each },
            createdAt: new Date(at + index).toISOString(),
            source: 'imported',
          } as Partial<Memory> as Memory;
        });
      }),
    );
  }

  return {
    getSessionId: async () => sessionId,
    async getItems(limit) {
      const items = itemsOf(await kept());
      return limit === undefined ? items : items.slice(Math.max(0, items.length - limit));
    },
    async addItems(items) {
      if (!Array.isArray(items)) throw invalidArgument('items', 'expected a list of items of a conversation');
      if (items.length === 0) return;
      let clash: { readonly from: number; readonly error: unknown } | undefined;
      for (;;) {
        const last = (await kept()).at(-1);
        const from = last ? positionOf(last) + 1 : 0;
        // No items were added, so the id belongs to something else and will not become free.
        if (clash?.from === from) throw clash.error;
        try {
          return await insert(items, from, last);
        } catch (error) {
          if (!SalienceError.isInstance(error) || error.code !== 'already_exists') throw error;
          clash = { from, error };
        }
      }
    },
    async popItem() {
      for (;;) {
        const last = await forgetFound(memory, async () => {
          const all = await kept();
          const position = all.at(-1)?.metadata['position'];
          return all.filter(({ metadata }) => metadata['position'] === position);
        });
        const [item] = itemsOf(last);
        // If the last position was only the rest of a partly forgotten item, the item before it is the last one.
        if (item || last.length === 0) return item;
      }
    },
    async clearSession() {
      await forgetFound(memory, kept);
    },
  };
}

/**
 * Returns the prefix of the ids of the items. Memories of all scopes share one set of ids, and no scope contains "#".
 * Earlier versions wrote "scope/session", which could also be a session of the global scope. Their items are still
 * found, by the session in their metadata and by their scope, and new items follow them.
 */
function nameOf(sessionId: string, scope: string): string {
  return scope === 'global' && !/[#/]/.test(sessionId) ? sessionId : `${scope}#${sessionId}`;
}

function positionOf({ metadata }: Memory): number {
  return Number(metadata['position']);
}

function partOf({ metadata }: Memory): number {
  return Number(metadata['part'] ?? 0);
}

/**
 * Rebuilds the items from memories that are ordered by position and part. An item with a missing part is left out:
 * forgetting one recalled part must not break the conversation.
 */
function itemsOf(memories: readonly Memory[]): AgentInputItem[] {
  const items = new Map<number, Memory[]>();
  for (const memory of memories) {
    const position = positionOf(memory);
    items.set(position, [...(items.get(position) ?? []), memory]);
  }
  return [...items.values()].flatMap((parts) => {
    if (parts.some((part, at) => partOf(part) !== at)) return [];
    const item = parsed(parts.map(({ metadata }) => String(metadata['item'])).join(''));
    return item === undefined ? [] : [item];
  });
}

/** Returns `undefined` for JSON that is cut off. */
function parsed(text: string): AgentInputItem | undefined {
  try {
    return JSON.parse(text) as AgentInputItem;
  } catch {
    return undefined;
  }
}

/** Code points per part. At four bytes each at most, they fit into metadata of 16 KiB. */
const PART_CHARACTERS = 3000;

/**
 * Splits a text into parts that fit into metadata. No surrogate pair is split, and no part ends with a tag that would
 * be redacted.
 */
function partsOf(text: string): readonly string[] {
  const characters = Array.from(text);
  const parts: string[] = [];
  for (let start = 0; start < characters.length; ) {
    let end = Math.min(start + PART_CHARACTERS, characters.length);
    const part = () => characters.slice(start, end).join('');
    // `<private` is not a tag if more letters follow.
    while (end < characters.length && end > start + 1 && redactPrivate(part()) !== part()) end--;
    parts.push(part());
    start = end;
  }
  return parts;
}

const ROLES: readonly string[] = ['user', 'assistant', 'system', 'tool'];

interface ItemParts {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[];
}

/**
 * Returns the text of an item for recalls: what somebody said, otherwise the item as JSON with low importance. A memory
 * without a role counts as said by the user, so calls and results of tools get the role `tool`.
 */
function statementOf(text: string, field: string): Pick<Memory, 'content' | 'importance' | 'role'> {
  const { role, content } = JSON.parse(text) as ItemParts;
  if (role === undefined || content === undefined)
    return { content: readable(text), importance: 0.1, role: 'tool' };
  const isParts = Array.isArray(content) && content.every((part: unknown): boolean => isPlain(part));
  if (typeof content !== 'string' && !isParts) {
    throw invalidArgument(
      `${field}.content`,
      'expected a text, or a list of parts such as { type: "input_text", text: "Hello" }',
    );
  }
  const said =
    typeof content === 'string' ? content : content.map((part) => part.text ?? `[${part.type}]`).join('\n');
  return {
    content: readable(`${role}: ${said}`),
    importance: role === 'system' ? 0.1 : 0.3,
    role: ROLES.includes(role) ? role : undefined,
  };
}
