import type { Metadata } from '../../domain/memory.ts';
import { type RelationInput, relationId } from '../../domain/relation.ts';
import type { ExtractedMemory } from '../../language/extracted-memory.ts';
import type { Turn } from '../../language/messages.ts';
import type { SpaceReader } from '../../store/store.ts';
import type { Dependencies } from '../dependencies.ts';
import type { GraphLook } from '../graph/view.ts';
import type { FurtherChanges } from '../write/remember.ts';
import { type EntityInput, type Resolved, resolveNames } from './resolve.ts';
import { type LeftOut, type StatedEntity, statedIn } from './stated.ts';

/** The entities and relations that were found in a conversation. */
export interface ObservedGraph {
  /** The ids of the new and known entities that facts name. */
  readonly entities: readonly string[];
  /** The ids of the relations that facts state, as `neighbours` gives them. */
  readonly relations: readonly string[];
  /** How many conflicts were opened because a new entity may be the same as another one. */
  readonly questions: number;
  /** What the model found but was not kept, because its message does not say it or it cannot be stored. */
  readonly leftOut: readonly LeftOut[];
}

/** The entities and relations of a conversation, to be resolved against the stored entities. */
export interface Graph {
  resolve(reader: SpaceReader): Promise<{
    readonly inputs: readonly EntityInput[];
    readonly relationsOf: (memory: ExtractedMemory) => readonly RelationInput[] | undefined;
    /** Returns further changes for the write; `undefined` if the names resolve differently by then. */
    readonly furtherChanges: FurtherChanges;
    readonly observed: ObservedGraph;
  }>;
}

interface GraphSettings {
  readonly look: GraphLook;
  readonly scope: string;
  readonly sessionId: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
}

/** Collects the entities and relations of facts that their messages actually state. */
export function graphOf(
  engine: Dependencies,
  facts: readonly ExtractedMemory[],
  turns: readonly Turn[],
  { look, scope, ...common }: GraphSettings,
): Graph {
  const stated = statedIn(facts, turns);
  // A new name keeps its id when names are resolved again.
  const newIds = new Map(stated.entities.map(({ key }) => [key, engine.newId(look.now)]));
  const inputOf = ({ key, name, kind, turn: { id, at } }: StatedEntity): EntityInput => ({
    ...common,
    id: newIds.get(key) as string,
    scope,
    type: 'entity',
    title: name,
    kind,
    content: kind === undefined ? name : `${name} (${kind})`,
    metadata: { ...common.metadata, ...(id === undefined ? {} : { messages: [id] }) },
    source: 'extracted',
    sourceRef: id,
    createdAt: new Date(Math.min(at, look.now)),
  });
  const resolveWith = (reader: SpaceReader) =>
    resolveNames(engine, reader, stated.entities, { look, scope, inputOf });
  return {
    async resolve(reader) {
      const resolved = await resolveWith(reader);
      const leftOut: LeftOut[] = [...stated.leftOut, ...resolved.leftOut];
      const nameOf = new Map(stated.entities.map(({ key, name }) => [key, name]));
      const relations = new Map<ExtractedMemory, readonly RelationInput[]>();
      for (const [memory, each] of stated.relations) {
        const kept = each.flatMap(({ from, name, to, confidence }): RelationInput[] => {
          const [source, target] = [resolved.ids.get(from), resolved.ids.get(to)];
          if (source !== undefined && target !== undefined && source !== target)
            return [{ from: source, name, to: target, confidence }];
          const reason = source !== undefined && source === target ? 'same' : 'inactive';
          leftOut.push({ kind: 'relation', name: `${nameOf.get(from)} ${name} ${nameOf.get(to)}`, reason });
          return [];
        });
        if (kept.length > 0) relations.set(memory, kept);
      }
      return {
        inputs: resolved.inputs,
        relationsOf: (memory) => relations.get(memory),
        async furtherChanges(current) {
          const again = await resolveWith(current);
          return signatureOf(again) === signatureOf(resolved) ? again.changes : undefined;
        },
        observed: {
          entities: [...new Set(resolved.ids.values())],
          relations: [...new Set([...relations.values()].flat().map(relationId))],
          questions: resolved.questions.length,
          leftOut,
        },
      };
    },
  };
}

/** Identifies the result of resolving names: it must be the same within the write. */
function signatureOf({ ids, inputs, questions }: Resolved): string {
  return JSON.stringify([[...ids], inputs.map(({ id, aliases }) => [id, aliases]), questions]);
}
