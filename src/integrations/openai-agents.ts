/**
 * A memory as the session of the OpenAI Agents SDK.
 *
 * @module
 */

import type { AgentInputItem, Session } from '@openai/agents-core';
import { type Memory, type MemoryEngine, SalienceError } from '../index.ts';
import { keysOf, onlyKeys } from '../model/options.ts';
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
        cursor,
      });
      memories.push(...page.memories);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return memories.sort((a, b) => positionOf(a) - positionOf(b));
  }

  async function insert(items: readonly AgentInputItem[], from: number, last: Memory | undefined) {
    // Each item a millisecond after the one before: the neighbours of a memory are those of the conversation.
    const at = Math.max(clock(), last ? Date.parse(last.createdAt) + 1 : 0);
    // Restored, not remembered: who says the same twice has said it twice.
    await memory.restore(
      items.map((item, index) => {
        const position = from + index;
        const text = keptJson(item, `items[${index}]`);
        const { content, importance } = statementOf(text);
        return {
          id: `${sessionId}:${position}`,
          type: MESSAGE,
          content,
          importance,
          scope,
          sessionId,
          metadata: { session: sessionId, position, item: text },
          createdAt: new Date(at + index).toISOString(),
          source: 'imported',
        } as Partial<Memory> as Memory;
      }),
    );
  }

  return {
    getSessionId: async () => sessionId,
    async getItems(limit) {
      const memories = await kept();
      return (limit === undefined ? memories : memories.slice(Math.max(0, memories.length - limit))).map(
        itemOf,
      );
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
      const last = (await kept()).at(-1);
      if (!last) return undefined;
      await memory.forget(last.id);
      return itemOf(last);
    },
    async clearSession() {
      await memory.forget((await kept()).map(({ id }) => id));
    },
  };
}

function positionOf({ metadata }: Memory): number {
  return Number(metadata['position']);
}

function itemOf({ metadata }: Memory): AgentInputItem {
  return JSON.parse(String(metadata['item'])) as AgentInputItem;
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
