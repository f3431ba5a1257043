/**
 * A memory as the session of the OpenAI Agents SDK.
 *
 * @module
 */

import type { AgentInputItem, Session } from '@openai/agents-core';
import { keysOf, onlyKeys } from '../domain/options.ts';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';
import { keptJson, readable } from './kept-json.ts';

export interface MemorySessionOptions {
  /** At most 100 characters; the same id goes on with the same conversation. Default is a random one. */
  readonly sessionId?: string | undefined;
  /** The scope of the items. Default is `global`. */
  readonly scope?: string | undefined;
  /** Default is the system's clock. */
  readonly clock?: (() => number) | undefined;
}

const optionKeys = keysOf<MemorySessionOptions>()({ sessionId: true, scope: true, clock: true });

/** The type of memories that are items of a conversation. */
const MESSAGE = 'message';

/**
 * A conversation for `run(agent, input, { session })`, each item a memory of type `message`: what was said can be recalled
 * later, in other conversations too. Items come back in order and as they were, but for what stands in
 * `<private>…</private>`, which is never kept. What is popped or cleared is forgotten for good.
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
  onlyKeys(options, optionKeys, 'memorySession');
  const { sessionId = crypto.randomUUID(), scope, clock = Date.now } = options;
  if (sessionId.trim() === '' || sessionId.length > 100) {
    throw new SalienceError('invalid_argument', 'sessionId: 1–100 characters are needed', {
      details: { field: 'sessionId' },
    });
  }

  /** The memories of the session in order. */
  async function kept(): Promise<readonly Memory[]> {
    const memories: Memory[] = [];
    let cursor: string | undefined;
    do {
      const page = await memory.list({
        types: [MESSAGE],
        metadata: { session: sessionId },
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
        const text = keptJson(item, `items[${index}]`);
        const { content, importance } = statementOf(text);
        return partsOf(text).map((each, part) => {
          const id = `${sessionId}:${position}`;
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
      const all = await kept();
      const position = all.at(-1)?.metadata['position'];
      const last = all.filter(({ metadata }) => metadata['position'] === position);
      await memory.forget(last.map(({ id }) => id));
      return itemsOf(last)[0];
    },
    async clearSession() {
      await memory.forget((await kept()).map(({ id }) => id));
    },
  };
}

function positionOf({ metadata }: Memory): number {
  return Number(metadata['position']);
}

function partOf({ metadata }: Memory): number {
  return Number(metadata['part'] ?? 0);
}

/** The items that are kept in memories in the order of their positions and parts. */
function itemsOf(memories: readonly Memory[]): AgentInputItem[] {
  const texts = new Map<number, string>();
  for (const memory of memories) {
    const position = positionOf(memory);
    texts.set(position, (texts.get(position) ?? '') + String(memory.metadata['item']));
  }
  return Array.from(texts.values(), (text) => JSON.parse(text) as AgentInputItem);
}

/** So many code points, of four bytes each at most, fit into metadata of 16 KiB. */
const PART_CHARACTERS = 3000;

/** A text in pieces that fit into metadata, no surrogate pair cut apart. */
function partsOf(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${PART_CHARACTERS}}`, 'gu')) ?? [];
}

interface ItemParts {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[];
}

/** What a recall finds of an item: what somebody said, or else the item as it is, which hardly matters later. */
function statementOf(text: string): { readonly content: string; readonly importance: number } {
  const { role, content } = JSON.parse(text) as ItemParts;
  if (role === undefined || content === undefined) return { content: readable(text), importance: 0.1 };
  const said =
    typeof content === 'string' ? content : content.map((part) => part.text ?? `[${part.type}]`).join('\n');
  return { content: readable(`${role}: ${said}`), importance: role === 'system' ? 0.1 : 0.3 };
}
