/**
 * A memory as the session of the OpenAI Agents SDK.
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
   * At most 100 characters, with the scope if that is not `global`; the same id in the same scope goes on with the same conversation.
   * Default is a random one.
   */
  readonly sessionId?: string | undefined;
  /** The scope of the items. Default is `global`. */
  readonly scope?: string | undefined;
  /** Default is the system's clock. */
  readonly clock?: (() => number) | undefined;
}

const optionKeys = keysOf<MemorySessionOptions>()({ sessionId: true, scope: true, clock: true });

/** Characters of what the ids of memories begin with. */
const MOST_NAME = 100;

/** The type of memories that are items of a conversation. */
const MESSAGE = 'message';

/**
 * A conversation for `run(agent, input, { session })`, each item a memory of type `message`: what was said can be recalled
 * later, in other conversations too. Items come back in order and as they were, but for what stands in
 * `<private>…</private>`, which is never kept. What is popped or cleared is forgotten for good. A long item is several memories, and is
 * left out once one of them is forgotten.
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

  /** The memories of the session in order. */
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
    // Each item a millisecond after the one before: the neighbours of a memory are those of the conversation.
    const at = Math.max(clock(), last ? Date.parse(last.createdAt) + 1 : 0);
    // Restored, not remembered: who says the same twice has said it twice.
    await memory.importMemories(
      items.flatMap((item, index) => {
        const position = from + index;
        if (!isPlain(item)) throw invalidArgument(`items[${index}]`, 'expected an item of a conversation');
        const kept = keptJson(item, `items[${index}]`);
        const { content, importance } = statementOf(kept, `items[${index}]`);
        return partsOf(kept).map((each, part) => {
          const id = `${name}:${position}`;
          return {
            id: part === 0 ? id : `${id}.${part}`,
            type: MESSAGE,
            content: part === 0 ? content : `part ${part + 1} of ${id}`,
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
        // Nobody added items: the id belongs to something else, and will not become free.
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
        // What is left of an item that was forgotten is none: the one before it is the last.
        if (item || last.length === 0) return item;
      }
    },
    async clearSession() {
      await forgetFound(memory, kept);
    },
  };
}

/**
 * What the ids of the items begin with: memories of all scopes share their ids, and no scope has a "#". Earlier versions wrote
 * "scope/session", which could be a session of the global scope. Their items are found all the same, by the session in
 * their metadata and by their scope, and new ones go on behind them.
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
 * The items that are kept in memories in the order of their positions and parts. One of which a part is missing is left out: whoever
 * forgets what a recall has found forgets one part, and the conversation must go on.
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

/** `undefined` for what is cut off. */
function parsed(text: string): AgentInputItem | undefined {
  try {
    return JSON.parse(text) as AgentInputItem;
  } catch {
    return undefined;
  }
}

/** So many code points, of four bytes each at most, fit into metadata of 16 KiB. */
const PART_CHARACTERS = 3000;

/** A text in pieces that fit into metadata, no surrogate pair cut apart, and none that would be redacted by itself. */
function partsOf(text: string): readonly string[] {
  const characters = Array.from(text);
  const parts: string[] = [];
  for (let start = 0; start < characters.length; ) {
    let end = Math.min(start + PART_CHARACTERS, characters.length);
    const part = () => characters.slice(start, end).join('');
    // `<private` is no tag where more letters follow.
    while (end < characters.length && end > start + 1 && redactPrivate(part()) !== part()) end--;
    parts.push(part());
    start = end;
  }
  return parts;
}

interface ItemParts {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[];
}

/** What a recall finds of an item: what somebody said, or else the item as it is, which hardly matters later. */
function statementOf(text: string, field: string): { readonly content: string; readonly importance: number } {
  const { role, content } = JSON.parse(text) as ItemParts;
  if (role === undefined || content === undefined) return { content: readable(text), importance: 0.1 };
  const isParts = Array.isArray(content) && content.every((part: unknown): boolean => isPlain(part));
  if (typeof content !== 'string' && !isParts) {
    throw invalidArgument(
      `${field}.content`,
      'expected a text, or a list of parts such as { type: "input_text", text: "Hello" }',
    );
  }
  const said =
    typeof content === 'string' ? content : content.map((part) => part.text ?? `[${part.type}]`).join('\n');
  return { content: readable(`${role}: ${said}`), importance: role === 'system' ? 0.1 : 0.3 };
}
