import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName, namesOfEntity } from '../../domain/relation.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { Link, SearchRequest, Snapshot, SpaceReader, SpaceStore } from '../../store/store.ts';
import type { Analyzer } from '../../text/analyze.ts';
import { finderOf, type Named } from '../../text/mentions.ts';
import { isCommonWord, UNSPACED } from '../../text/names.ts';
import { walkingReader } from '../graph/kept.ts';
import { edgesOf, type GraphLook, visibleAmong } from '../graph/view.ts';
import type { Surroundings } from './surroundings.ts';

/** What a recall needs to follow the entities that the query names. */
export interface GraphPlan {
  /** The space that is walked. Relations that recalls have read of it are cached. */
  readonly space: SpaceStore;
  /** The query. */
  readonly text: string;
  readonly analyzer: Analyzer;
  readonly singleValued: ReadonlySet<string>;
  /** The weight of a relation of weight 1, and of a mention, as a link: 0–1. */
  readonly weight: number;
}

/** Most memories that are read for the names of entities, and the most words of a name in a query. */
const MOST_MENTIONS = 50;
const MOST_WORDS = 6;

/**
 * Adds links to the surroundings: from entities that the query names to the memories that mention them, to the other
 * ends of their relations, and to the memories that state these relations. The relations of those other ends are one
 * link further. `named` are the ids of the entities.
 */
export async function withGraph(
  surroundings: Surroundings,
  snapshot: Snapshot,
  request: SearchRequest,
  plan: GraphPlan,
): Promise<{ readonly surroundings: Surroundings; readonly named: readonly string[] }> {
  const { scopes, validAt, deep } = request.filter;
  const look: GraphLook = {
    filter: { scopes, validAt, deep },
    now: request.now,
    singleValued: plan.singleValued,
  };
  const reader = await walkingReader(plan.space, snapshot);
  const named = await entitiesNamed(reader, plan.text, look);
  if (named.length === 0) return { surroundings, named: [] };
  const mentions = await mentionLinks(snapshot, reader, request, plan, named, look);
  /** Entities whose relations are followed: the named ones, then the other ends of their relations. */
  const open = new Set(named.map(({ id }) => id));
  /** Memories that relations led to. They are visible, or the relations would not hold. */
  const seen = new Set<string>();
  return {
    named: [...open],
    surroundings: {
      ...surroundings,
      async visible(ids) {
        const others = new Set(await surroundings.visible(ids.filter((id) => !seen.has(id))));
        return ids.filter((id) => seen.has(id) || others.has(id));
      },
      async links(ids, minimum = 0, sequence = true) {
        const from = ids.filter((id) => open.has(id));
        const edges = from.length === 0 ? [] : await edgesOf(reader, from, look);
        const links = [...(await surroundings.links(ids, minimum, sequence)), ...mentions];
        for (const edge of edges) {
          const { from: a, to: b, stated } = edge;
          const most = Math.max(...stated.map(({ relation }) => relation.weight));
          links.push(linkOf(a, b, plan.weight * most, request.now));
          seen.add(a).add(b);
          for (const { memory, relation } of stated) {
            seen.add(memory.id);
            for (const end of [a, b]) {
              if (end !== memory.id && from.includes(end))
                links.push(linkOf(end, memory.id, plan.weight * relation.weight, request.now));
            }
          }
          open.add(a).add(b);
        }
        const wanted = new Set(ids);
        return links.filter(
          ({ ids: ends, weight }) => weight >= minimum && ends.some((end) => wanted.has(end)),
        );
      },
    },
  };
}

function linkOf(a: string, b: string, weight: number, at: number): Link {
  return { ids: a < b ? [a, b] : [b, a], kind: 'stated', weight, at };
}

/**
 * Finds the visible entities whose name occurs in a query as whole words, in any case. A name that is also a common
 * word counts only if capitalised and not at the beginning of a sentence. A name that several entities have counts for
 * none of them.
 */
export async function entitiesNamed(
  reader: SpaceReader,
  text: string,
  look: GraphLook,
): Promise<readonly MemoryRecord[]> {
  const said = namesSaid(text);
  if (said.length === 0) return [];
  const found = await visibleAmong(reader, await reader.find('names', said), look);
  const meant = new Map<string, MemoryRecord>();
  for (const name of new Set(said)) {
    const bearers = found.filter((memory) => namesOfEntity(memory).includes(name));
    const [only] = bearers;
    if (only && bearers.length === 1) meant.set(only.id, only);
  }
  return [...meant.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns everything in a query that may be a name, folded: runs of words, and runs of characters in scripts without spaces. */
function namesSaid(text: string): readonly string[] {
  const normal = text.normalize('NFC');
  const words = [...normal.matchAll(/[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}.&/+#'’-]*/gu)].map(
    ({ 0: word, index }) => ({
      word: word.replace(/['’]s?$/u, '').replace(/[.'’-]+$/u, ''),
      begins: /(?:^|[.!?…])[^\p{L}\p{N}]*$/u.test(normal.slice(0, index)),
    }),
  );
  const said: string[] = [];
  words.forEach(({ word, begins }, at) => {
    const asName = !isCommonWord(word) || (/^\p{Lu}/u.test(word) && !begins);
    if (asName && [...word].length > 1) said.push(foldedName(word));
    for (let end = at + 2; end <= Math.min(words.length, at + MOST_WORDS); end++)
      said.push(
        foldedName(
          words
            .slice(at, end)
            .map((each) => each.word)
            .join(' '),
        ),
      );
    if (UNSPACED.test(word)) said.push(...runsOf(word));
  });
  return said;
}

function runsOf(word: string): readonly string[] {
  const characters = [...word].slice(0, 100);
  return characters.flatMap((_, at) =>
    [2, 3, 4, 5, 6, 7, 8].flatMap((length) =>
      at + length <= characters.length ? [foldedName(characters.slice(at, at + length).join(''))] : [],
    ),
  );
}

/** Links named entities with the memories that mention them, which a search for the words of their names finds. */
async function mentionLinks(
  snapshot: Snapshot,
  reader: SpaceReader,
  request: SearchRequest,
  { analyzer, weight }: GraphPlan,
  named: readonly MemoryRecord[],
  look: GraphLook,
): Promise<readonly Link[]> {
  const { scopes, validAt, deep, includeExpired } = request.filter;
  const names = named.flatMap((memory) => [memory.title ?? [], memory.aliases ?? []].flat());
  const terms = [...new Set(names.flatMap((name) => [...analyzer.analyze(name)]))].sort();
  if (terms.length === 0) return [];
  const { hits } = await snapshot.search({
    profile: byWords,
    query: { terms },
    filter: { scopes, validAt, deep, includeExpired },
    now: request.now,
    limit: MOST_MENTIONS,
  });
  // Other entities with the same names make a mention ambiguous.
  const bearers = await visibleAmong(reader, await reader.find('names', names), look);
  const mentionsOf = finderOf(
    bearers.map(
      ({ id, title, aliases = [], kind }): Named => ({
        id,
        names: title === undefined ? aliases : [title, ...aliases],
        kind,
      }),
    ),
  );
  const ids = new Set(named.map(({ id }) => id));
  return hits.flatMap(({ memory }) => {
    const text = [memory.title, memory.content].filter((part) => part !== undefined).join('\n');
    const found = new Set(mentionsOf(text).map(({ id }) => id));
    return [...found]
      .filter((id) => ids.has(id) && id !== memory.id)
      .map((id) => linkOf(id, memory.id, weight, request.now));
  });
}

/** Requires at least one common word. */
const byWords = resolveProfile({ ...builtinProfile('bm25'), require: [{ signal: 'lexical', above: 0 }] });
