import { FIELDS } from '../domain/fields.ts';
import type { MemoryType } from '../domain/memory.ts';
import type { Instant } from '../domain/time.ts';
import { cleanText } from './answer.ts';
import type { ExtractedGraph } from './extracted-graph.ts';
import { judgeImportance } from './importance.ts';
import type { Turn } from './messages.ts';

/** Something worth remembering in a conversation, before it becomes a memory. */
export interface ExtractedMemory {
  readonly content: string;
  readonly type: MemoryType;
  readonly title: string | undefined;
  readonly tags: readonly string[];
  /** 0–1. */
  readonly importance: number;
  readonly importanceSource: 'model' | 'rules';
  /** 1 stated, 0.7 implied, 0.5 uncertain. */
  readonly confidence: number;
  readonly validFrom: Instant | undefined;
  readonly validUntil: Instant | undefined;
  /** When the last of its sources was said. */
  readonly saidAt: Instant;
  /**
   * Positions, from 0, of the messages that it comes from. Empty if the model named none of those that it was shown.
   */
  readonly sources: readonly number[];
  /** The ids of those messages, where they have one. */
  readonly sourceIds: readonly string[];
  /** The speaker's name and role, if all sources agree. */
  readonly author: string | undefined;
  readonly role: string | undefined;
  /** The entities it names and the relations it states; set only if requested. */
  readonly graph?: ExtractedGraph | undefined;
}

/** Returns where a memory comes from. `turns` are its sources; `otherwise` is its time if there are none. */
export function provenance(
  turns: readonly Turn[],
  otherwise: Instant,
): Pick<ExtractedMemory, 'saidAt' | 'sources' | 'sourceIds' | 'author' | 'role'> {
  return {
    saidAt: turns.length === 0 ? otherwise : Math.max(...turns.map(({ at }) => at)),
    sources: turns.map(({ position }) => position),
    sourceIds: turns.flatMap(({ id }) => (id === undefined ? [] : [id])),
    author: onlyOne(turns.map(({ name = '' }) => (cleanText(name) === '' ? undefined : name))),
    role: onlyOne(turns.map(({ role }) => (role.length > FIELDS.role.maxCharacters ? undefined : role))),
  };
}

function onlyOne<Value>(values: readonly Value[]): Value | undefined {
  const [first] = values;
  return values.every((value) => value === first) ? first : undefined;
}

/** Extracts without a model: each message becomes one event, and rules judge its importance. */
export function messagesAsEvents(turns: readonly Turn[]): readonly ExtractedMemory[] {
  return turns.flatMap((turn) => {
    const said = cleanText(turn.content);
    if (said === '') return [];
    const speaker = turn.name === undefined ? '' : cleanText(turn.name);
    return [
      {
        content: speaker === '' ? said : `${speaker}: ${said}`,
        type: 'event',
        title: undefined,
        tags: [],
        importance: judgeImportance(said).importance,
        importanceSource: 'rules',
        confidence: 1,
        validFrom: undefined,
        validUntil: undefined,
        ...provenance([turn], turn.at),
      } as const,
    ];
  });
}
