import type { LinkKind } from '../../domain/memory.ts';
import type { RelationInput } from '../../domain/relation.ts';
import type { AsOf, Inactive, Memory, OperationOptions, RememberResult } from '../types.ts';

/** A relation that holds, with what states it. */
export interface StatedRelation {
  /** The same for every memory that states it: `relation:ada/works_at/acme`. */
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
  /** Since when it holds, by the statement with the earliest start; absent if one of them has none. */
  readonly validFrom?: string;
  /** Until when it holds, by the statement with the latest end; absent if one of them has none. */
  readonly validUntil?: string;
  /** The ids of the memories that state it, oldest first. */
  readonly statements: readonly string[];
}

/** The scope and time from which entities and relations are seen. */
export interface GraphOptions extends OperationOptions {
  /** Sees this scope and its ancestors. Default is every scope. */
  readonly scope?: string | undefined;
  /** Looks at the past: at what was known, or was true, at a moment. */
  readonly asOf?: AsOf | undefined;
}

export interface RelateOptions
  extends OperationOptions,
    Pick<RelationInput, 'weight' | 'confidence' | 'validFrom' | 'validUntil'> {
  /** A sentence that states it, remembered as a fact. Default is a generated one: "Ada works at Acme". */
  readonly content?: string | undefined;
  /**
   * The ids of memories that state it already. They get the relation, and no sentence is remembered. Not together with
   * `content`.
   */
  readonly statedBy?: readonly string[] | undefined;
  /** The scope of the sentence, and from which names are looked up. Default is `global`. */
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
}

export interface RelateResult {
  readonly relation: StatedRelation;
  /** The relation in words: "Ada works at Acme". */
  readonly sentence: string;
  /** The outcome for the sentence; `updated` for the memories of `statedBy`. */
  readonly outcome: RememberResult['outcome'];
  /** Set if every memory that states it was invalidated: the relation does not hold until one of them is reinstated. */
  readonly inactive?: Inactive | undefined;
}

export interface UnrelateOptions extends OperationOptions {
  /** Since when it no longer holds. Default is now. */
  readonly endedAt?: string | Date | undefined;
  /** Only statements in exactly this scope. Default is every scope. */
  readonly scope?: string | undefined;
}

export interface UnrelateResult {
  /** The id of the relation that has ended. */
  readonly id: string;
  /** The relation in words: "Ada works at Acme". */
  readonly sentence: string;
  /** The ids of the memories that stated it. */
  readonly statements: readonly string[];
}

/** The result of merging two entities. */
export interface MergeResult {
  /** The entity that stays, with the names of both. */
  readonly entity: Memory;
  /** The id of the entity that was merged into it. */
  readonly merged: string;
  /** The ids of the memories whose relations moved from the merged entity to the other. */
  readonly statements: readonly string[];
}

export interface SplitOptions extends OperationOptions {
  /** Further names of the other entity. They are removed from the first one. */
  readonly aliases?: readonly string[] | undefined;
  /** The kind of the other entity. Default is that of the first. */
  readonly kind?: string | undefined;
  /** The content of the other entity. Default is its name. */
  readonly content?: string | undefined;
  /**
   * The ids of the memories whose relations belong to the other entity. By default those that name it and do not name
   * the first.
   */
  readonly statements?: readonly string[] | undefined;
}

/** The result of splitting an entity. */
export interface SplitResult {
  /** The first entity, without the names of the other one. */
  readonly entity: Memory;
  /** The other entity. */
  readonly split: Memory;
  /** The ids of the memories whose relations moved to the other entity. */
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
  /** Most neighbours, nearest first, 1–10,000. Default is 1,000. */
  readonly limit?: number | undefined;
  /** Whether to follow links between memories too, whatever `relations` says. Default is false. */
  readonly links?: boolean | undefined;
  /** Whether to return the first 200 characters of the content of each neighbour. Default is false. */
  readonly texts?: boolean | undefined;
}

/** A link between two memories of a neighbourhood. It has no direction. */
export interface NeighbourLink {
  /** The ids of the two memories. */
  readonly ids: readonly [string, string];
  readonly kind: LinkKind;
  /** The weight now, after decay, 0–1. */
  readonly weight: number;
}

/** A memory that relations or links lead to. Use `get` for the whole memory. */
export interface Neighbour {
  readonly id: string;
  /** Its title, if it has one. */
  readonly name?: string;
  /** For an entity: `person`, `place`, or another word. */
  readonly kind?: string;
  readonly type: string;
  /** How many relations or links away it is. */
  readonly depth: number;
  /** The beginning of its content. Only with `texts: true`. */
  readonly text?: string;
}

/** What lies around an entity. */
export interface Neighbourhood {
  readonly entity: Memory;
  /** Nearest first, then by id; without the entity itself. */
  readonly neighbours: readonly Neighbour[];
  /** The relations that led to the neighbours, and those among them up to that depth; by id. */
  readonly relations: readonly StatedRelation[];
  /** The links, likewise; strongest first. Only with `links: true`. */
  readonly links?: readonly NeighbourLink[];
  /** Set if the limit left neighbours out. */
  readonly truncated?: true;
}

export interface PathsOptions extends GraphOptions {
  /** Most relations of a path, 1–6. Default is 4. */
  readonly maxLength?: number | undefined;
  readonly relations?: readonly string[] | undefined;
  /** Most paths, 1–100. Default is 5. */
  readonly limit?: number | undefined;
}

/** A path between two memories. */
export interface GraphPath {
  /** The ids of the memories on the path, in order. */
  readonly ids: readonly string[];
  /** The relations between them, one fewer. A path may follow a relation in either direction. */
  readonly relations: readonly StatedRelation[];
}
