import { FIELDS } from '../domain/fields.ts';
import type { MemoryType } from '../domain/memory.ts';
import type { Instant } from '../domain/time.ts';
import { cleanText } from './answer.ts';
import type { ExtractedGraph } from './extracted-graph.ts';
import { judgeImportance } from './importance.ts';
import type { Turn } from './messages.ts';

/** What a conversation is worth remembering for, before it is a memory. */
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
  /** Positions, from 0, of the messages that it comes from; empty when the model named none that it was shown. */
  readonly sources: readonly number[];
  /** The ids of those of them that have one. */
  readonly sourceIds: readonly string[];
  /** Whose words its sources are, by name and by role, as far as they agree. */
  readonly author: string | undefined;
  readonly role: string | undefined;
  /** What it names, and says of that; only where it was asked for. */
  readonly graph?: ExtractedGraph | undefined;
}

/** Where a memory comes from. `turns` are its sources, `otherwise` when it was said if there are none. */
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

/** Without a model: each message as it stands, one event each; rules judge its importance. */
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
