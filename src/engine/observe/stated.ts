import { REDACTED } from '../../domain/redaction.ts';
import { foldedName, relationName } from '../../domain/relation.ts';
import type { ExtractedMemory } from '../../language/extracted-memory.ts';
import type { Turn } from '../../language/messages.ts';
import { UNSPACED } from '../../text/names.ts';

/** An entity, alias or relation that a model found but that was not kept. */
export interface LeftOut {
  readonly kind: 'entity' | 'alias' | 'relation';
  /** As the model wrote it; for a relation both names with the relation between them. */
  readonly name: string;
  /**
   * `unstated`: the message it is attributed to does not contain its names, or is not one of the messages of the fact.
   * `unreadable`: it is not a valid name. `same`: both ends are one entity. `inactive`: the entity was invalidated or
   * forgotten.
   */
  readonly reason: 'unstated' | 'unreadable' | 'same' | 'inactive';
}

/** An entity that messages name, by one of its names. */
export interface StatedEntity {
  /** The folded name. */
  readonly key: string;
  readonly name: string;
  readonly kind: string | undefined;
  readonly aliases: readonly string[];
  /** Names of other entities that it may be the same as. */
  readonly mayBe: readonly string[];
  /** The first message that names it. */
  readonly turn: Turn;
}

/** A relation that a message states, by the keys of its ends. */
export interface StatedRelation {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  readonly confidence: number;
}

/** The entities and relations of a model's answer that the words of their messages confirm. */
export interface StatedGraph {
  readonly entities: readonly StatedEntity[];
  readonly relations: ReadonlyMap<ExtractedMemory, readonly StatedRelation[]>;
  readonly leftOut: readonly LeftOut[];
}

const PRONOUN = /^(?:i|me|you|he|him|she|her|it|we|us|they|them)$/u;

/**
 * Keeps the entities and relations whose names occur in the message that they are attributed to, or are names of its
 * speaker. So a message cannot make the model add a name that the message does not contain.
 */
export function statedIn(memories: readonly ExtractedMemory[], turns: readonly Turn[]): StatedGraph {
  const byPosition = new Map(turns.map((turn) => [turn.position, turn]));
  const turnAt = (position: number | undefined) =>
    position === undefined ? undefined : byPosition.get(position);
  const found = new Map<string, StatedEntity>();
  const leftOut: LeftOut[] = [];
  for (const { graph } of memories) {
    for (const { name, kind, aliases, mayBe, source } of graph?.entities ?? []) {
      const turn = turnAt(source);
      if (!isName(name) || !turn || !names(turn, name)) {
        leftOut.push({ kind: 'entity', name, reason: isName(name) ? 'unstated' : 'unreadable' });
        continue;
      }
      const [stated, unstated] = parted(aliases, (alias) => isName(alias) && names(turn, alias));
      leftOut.push(...unstated.map((alias) => ({ kind: 'alias', name: alias, reason: 'unstated' }) as const));
      add(found, { name, kind, aliases: stated, mayBe: mayBe === undefined ? [] : [mayBe], turn });
    }
  }
  const keyOf = keysOf(found);
  const relations = new Map<ExtractedMemory, readonly StatedRelation[]>();
  for (const memory of memories) {
    const kept: StatedRelation[] = [];
    for (const { from, name, to, source } of memory.graph?.relations ?? []) {
      const turn = turnAt(source);
      const read = readRelationName(name);
      const ends = [from, to];
      if (read === undefined || !ends.every(isName)) {
        leftOut.push({ kind: 'relation', name: `${from} ${name} ${to}`, reason: 'unreadable' });
      } else if (!turn || !ends.every((end) => names(turn, end))) {
        leftOut.push({ kind: 'relation', name: `${from} ${name} ${to}`, reason: 'unstated' });
      } else if (keyOf(from) === keyOf(to)) {
        leftOut.push({ kind: 'relation', name: `${from} ${name} ${to}`, reason: 'same' });
      } else {
        for (const end of ends)
          if (!found.has(keyOf(end)))
            add(found, { name: end, kind: undefined, aliases: [], mayBe: [], turn });
        kept.push({ from: keyOf(from), name: read, to: keyOf(to), confidence: memory.confidence });
      }
    }
    if (kept.length > 0) relations.set(memory, kept);
  }
  return { entities: [...found.values()], relations, leftOut };
}

function add(found: Map<string, StatedEntity>, entity: Omit<StatedEntity, 'key'>): void {
  const key = foldedName(entity.name);
  const before = found.get(key);
  found.set(key, {
    ...entity,
    key,
    ...(before && { name: before.name, turn: before.turn, kind: before.kind ?? entity.kind }),
    aliases: [...(before?.aliases ?? []), ...entity.aliases],
    mayBe: [...(before?.mayBe ?? []), ...entity.mayBe],
  });
}

/**
 * Returns a function from a name to its key: that of the entity with this name, else that of the only entity with this
 * alias, else its own.
 */
function keysOf(found: ReadonlyMap<string, StatedEntity>): (name: string) => string {
  const known = [...found.values()];
  return (name) => {
    const key = foldedName(name);
    if (found.has(key)) return key;
    const [meant, ...others] = known.filter(({ aliases }) => aliases.map(foldedName).includes(key));
    return meant && others.length === 0 ? meant.key : key;
  };
}

/** Whether a message or the name of its speaker contains a name. */
function names({ content, name }: Turn, given: string): boolean {
  return standsIn(content.replaceAll(REDACTED, '\n'), given) || (name !== undefined && standsIn(name, given));
}

/** Whether a text contains a name as whole words, ignoring case. In scripts without spaces it may occur anywhere. */
export function standsIn(text: string, name: string): boolean {
  const said = comparable(text);
  const sought = comparable(name);
  if (sought === '') return false;
  for (let at = said.indexOf(sought); at >= 0; at = said.indexOf(sought, at + 1)) {
    const before = UNENDED.test(first(sought)) || !ENDS_IN_WORD.test(said.slice(0, at));
    const after = UNENDED.test(last(sought)) || !BEGINS_IN_WORD.test(said.slice(at + sought.length));
    if (before && after) return true;
  }
  return false;
}

const BEGINS_IN_WORD = /^[\p{L}\p{M}\p{N}_]/u;
const ENDS_IN_WORD = /[\p{L}\p{M}\p{N}_]$/u;
/**
 * Characters with no word boundary around them: those of scripts without spaces, and Korean, which attaches particles
 * to words.
 */
const UNENDED = new RegExp(`${UNSPACED.source}|\\p{Script=Hangul}`, 'u');

function comparable(text: string): string {
  return foldedName(text.replaceAll('’', "'"));
}

function first(text: string): string {
  return [...text][0] ?? '';
}

function last(text: string): string {
  return [...text].at(-1) ?? '';
}

function isName(name: string): boolean {
  return /[\p{L}\p{N}]/u.test(name) && !PRONOUN.test(foldedName(name));
}

function readRelationName(name: string): string | undefined {
  try {
    return relationName(name, 'name');
  } catch {
    return undefined;
  }
}

function parted<Item>(items: readonly Item[], isFirst: (item: Item) => boolean) {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))] as const;
}
