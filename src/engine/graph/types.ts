import type { LinkKind } from '../../domain/memory.ts';
import type { RelationInput } from '../../domain/relation.ts';
import type { AsOf, Inactive, Memory, OperationOptions, RememberResult } from '../types.ts';

/** A relation that holds, with what states it. */
export interface StatedRelation {
  /** The same for everything that states it: `relation:ada/works_at/acme`. */
  readonly id: string;
  /** The id of the memory that it starts from. */
  readonly from: string;
  /** In snake case: `works_at`. */
  readonly name: string;
  /** The id of the memory that it leads to. */
  readonly to: string;
  /** 0.1–1: the highest of its statements. */
  readonly weight: number;
  /** 0–1: the highest of its statements. */
  readonly confidence: number;
  /** Since when, by the statement that goes back furthest; absent where one of them does not say. */
  readonly validFrom?: string;
  /** Until when, by the statement that goes on longest; absent where one of them does not say. */
  readonly validUntil?: string;
  /** The ids of the memories that state it, by when they were made. */
  readonly statements: readonly string[];
}

/** From where, and when, one looks at entities and relations. */
export interface GraphOptions extends OperationOptions {
  /** Sees this scope and its ancestors. Default is every scope. */
  readonly scope?: string | undefined;
  /** Looks back. */
  readonly asOf?: AsOf | undefined;
}

export interface RelateOptions
  extends OperationOptions,
    Pick<RelationInput, 'weight' | 'confidence' | 'validFrom' | 'validUntil'> {
  /** A sentence that states it, remembered with it as a fact. Default is its own: "Ada works at Acme". */
  readonly content?: string | undefined;
  /** The ids of memories that state it already; nothing is remembered then. Not together with `content`. */
  readonly statedBy?: readonly string[] | undefined;
  /** Of what is remembered, and from where names are looked up. Default is `global`. */
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
}

export interface RelateResult {
  readonly relation: StatedRelation;
  /** It in words: "Ada works at Acme". */
  readonly sentence: string;
  /** Of the statement; `updated` where memories that were there state it now. */
  readonly outcome: RememberResult['outcome'];
  /** Set when all that states it was invalidated: it does not hold until one of these is reinstated. */
  readonly inactive?: Inactive | undefined;
}

export interface UnrelateOptions extends OperationOptions {
  /** Since when it does not hold any more. Default is now. */
  readonly endedAt?: string | Date | undefined;
  /** Only what is stated in this scope itself. Default is every scope. */
  readonly scope?: string | undefined;
}

export interface UnrelateResult {
  /** The relation that has ended. */
  readonly id: string;
  /** It in words: "Ada works at Acme". */
  readonly sentence: string;
  /** The memories that said that it holds. */
  readonly statements: readonly string[];
}

/** Two entities that are one now. */
export interface MergeResult {
  /** The one that stays, with the names of both. */
  readonly entity: Memory;
  /** The id of the one that is part of it now. */
  readonly merged: string;
  /** The ids of the memories that stated relations of that one, and state them of the other now. */
  readonly statements: readonly string[];
}

export interface SplitOptions extends OperationOptions {
  /** Further names of the other one: they are removed from the first one. */
  readonly aliases?: readonly string[] | undefined;
  /** Of the other one. Default is that of the first. */
  readonly kind?: string | undefined;
  /** What is to be said of the other one. Default is its name. */
  readonly content?: string | undefined;
  /**
   * The ids of the memories whose relations are those of the other one. Default are those that name it, and do not name
   * the first.
   */
  readonly statements?: readonly string[] | undefined;
}

/** An entity that is two now. */
export interface SplitResult {
  /** The first, without the names of the other one. */
  readonly entity: Memory;
  /** The other one. */
  readonly split: Memory;
  /** The ids of the memories that state relations of the other one now. */
  readonly statements: readonly string[];
}

export interface EntitiesOptions extends GraphOptions {
  /** Only entities of this kind. */
  readonly kind?: string | undefined;
  /** 1–1,000. Default is 20. */
  readonly limit?: number | undefined;
}

export interface NeighboursOptions extends GraphOptions {
  /** How many relations away, 1–3. Default is 1. */
  readonly depth?: number | undefined;
  /** Only along relations of these names. Default is all. */
  readonly relations?: readonly string[] | undefined;
  /** How many neighbours at most, nearest first, 1–10,000. Default is 1,000. */
  readonly limit?: number | undefined;
  /** Whether links between memories are walked too, whatever `relations` says. Default is false. */
  readonly links?: boolean | undefined;
  /** Whether neighbours come with the first 200 characters of what they say. Default is false. */
  readonly texts?: boolean | undefined;
}

/** A link between two memories of a neighbourhood. It has no direction. */
export interface NeighbourLink {
  /** The ids of the two memories. */
  readonly ids: readonly [string, string];
  readonly kind: LinkKind;
  /** What is left of it at the moment, 0–1. */
  readonly weight: number;
}

/** A memory that relations lead to: `get` has the whole of it. */
export interface Neighbour {
  readonly id: string;
  /** Its title, if it has one. */
  readonly name?: string;
  /** Of an entity: `person`, `place`, or another word. */
  readonly kind?: string;
  readonly type: string;
  /** How many relations or links away it is. */
  readonly depth: number;
  /** The beginning of what it says, where it was asked for. */
  readonly text?: string;
}

/** What lies around an entity. */
export interface Neighbourhood {
  readonly entity: Memory;
  /** Nearest first, then by id; without the entity itself. */
  readonly neighbours: readonly Neighbour[];
  /** The relations that led to them, and those among them up to that depth; by id. */
  readonly relations: readonly StatedRelation[];
  /** In the same way, where they were asked for; strongest first. */
  readonly links?: readonly NeighbourLink[];
  /** Set where the limit left neighbours out. */
  readonly truncated?: true;
}

export interface PathsOptions extends GraphOptions {
  /** Most relations of a path, 1–6. Default is 4. */
  readonly maxLength?: number | undefined;
  readonly relations?: readonly string[] | undefined;
  /** How many paths at most, 1–100. Default is 5. */
  readonly limit?: number | undefined;
}

/** How two memories are joined. */
export interface GraphPath {
  /** From the first to the last. */
  readonly ids: readonly string[];
  /** One fewer; each may be walked either way. */
  readonly relations: readonly StatedRelation[];
}
