import type { ZodType } from 'zod';
import { clip } from '../domain/clip.ts';
import { cleanText } from './answer.ts';
import { fence } from './fence.ts';
import type { Turn } from './messages.ts';

/** Something that a fact names, as read by a model. Not yet compared with the words of the message. */
export interface ExtractedEntity {
  readonly name: string;
  readonly kind: string | undefined;
  readonly aliases: readonly string[];
  /** The name of another entity that may be the same. */
  readonly mayBe: string | undefined;
  /**
   * The position, from 0, of the message that it was read in; `undefined` if the fact does not come from that message.
   */
  readonly source: number | undefined;
}

/** A relation between two names that a fact states, as read by a model. */
export interface ExtractedRelation {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  /** See {@link ExtractedEntity.source}. */
  readonly source: number | undefined;
}

export interface ExtractedGraph {
  readonly entities: readonly ExtractedEntity[];
  readonly relations: readonly ExtractedRelation[];
}

/** An entity that the model is told about. */
export interface KnownName {
  readonly name: string;
  readonly kind?: string | undefined;
}

/** If one fact has more entities or relations than this, the model invents them. The rest is dropped. */
const MOST_PER_FACT = 10;
const MOST_ALIASES = 8;
const MOST_CHARACTERS = 200;
const KINDS = ['person', 'organisation', 'place', 'project', 'thing'] as const;

interface EntityItem {
  readonly name: string;
  readonly kind: (typeof KINDS)[number] | null;
  readonly aliases: readonly string[];
  readonly mayBe: string | null;
  readonly source: number | null;
}

interface RelationItem {
  readonly from: string;
  readonly name: string;
  readonly to: string;
  readonly source: number | null;
}

export interface GraphItem {
  readonly entities: readonly EntityItem[];
  readonly relations: readonly RelationItem[];
}

/** Returns the fields of an answer for the entities and relations of a memory. */
export async function graphFields(): Promise<{
  readonly entities: ZodType<readonly EntityItem[]>;
  readonly relations: ZodType<readonly RelationItem[]>;
}> {
  const { z } = await import('zod');
  const word = z.string().catch('');
  const source = z.number().nullable().catch(null);
  const entity = z.object({
    name: word,
    kind: z.enum(KINDS).nullable().catch(null),
    aliases: z.array(z.string()).catch([]),
    mayBe: z.string().nullable().catch(null),
    source,
  });
  const relation = z.object({ from: word, name: word, to: word, source });
  return { entities: z.array(entity).catch([]), relations: z.array(relation).catch([]) };
}

/** Reads the entities and relations of a fact. `sourceOf` returns message number `n` if the fact comes from it. */
export function readGraph(
  { entities, relations }: GraphItem,
  sourceOf: (n: number) => Turn | undefined,
): ExtractedGraph {
  const position = (source: number | null) => (source === null ? undefined : sourceOf(source)?.position);
  return {
    entities: entities.slice(0, MOST_PER_FACT).map(({ name, kind, aliases, mayBe, source }) => ({
      name: readName(name),
      kind: kind ?? undefined,
      aliases: aliases
        .slice(0, MOST_ALIASES)
        .map(readName)
        .filter((alias) => alias !== ''),
      mayBe: readName(mayBe ?? '') || undefined,
      source: position(source),
    })),
    relations: relations.slice(0, MOST_PER_FACT).map(({ from, name, to, source }) => ({
      from: readName(from),
      name: readName(name),
      to: readName(to),
      source: position(source),
    })),
  };
}

function readName(name: string): string {
  return clip(cleanText(name).replace(/\s+/gu, ' '), MOST_CHARACTERS);
}

/** The part of the instructions about entities and relations. */
export const graphInstructions = `
- entities: the people, organisations, places, projects and things that the memory names. An empty list if it names none.
  - name: as it is written in the message. Never a pronoun, never a description such as "my sister".
  - kind: one of ${KINDS.join(', ')}; null if none of them fits.
  - aliases: other names that the same message gives it.
  - mayBe: the name of a known entity, or of another one in the messages, that may be the same but is written otherwise; null if there is none. The name itself stays as the message writes it.
  - source: the number n of the one message that the name stands in. It is among the sources of the memory.
- relations: what the memory says of two of these entities, and the message says itself. An empty list if it says nothing of the kind.
  - from, to: the names of both. The name of the speaker of the message counts as written in it.
  - name: the relation in English snake case, such as works_at, lives_in, married_to, knows, part_of.
  - source: the number n of the one message that says so.`;

/** The entities that the model is told of. */
export function knownNames(known: readonly KnownName[], nonce: string): string {
  if (known.length === 0) return '';
  const { block, rule } = fence('entities', known, nonce);
  return `\n\nEntities that are known already:\n${block}\n${rule}`;
}
