import { activityOf } from './activity.ts';
import { mergedLinks, SEQUENCE_WEIGHT, sequenceLink } from './links.ts';
import type { Link, Neighbours, SpaceReader, StoreReader } from './store.ts';

/** Builds the reader that the engine uses from the reads that a store implements. */
export function convenient(reader: StoreReader): SpaceReader {
  const { storedLinks, neighbours, events, pairs } = reader;
  // Read once: the reader is a consistent snapshot.
  let known: ReturnType<StoreReader['state']> | undefined;
  const state = () => {
    known ??= reader.state();
    return known;
  };
  // Listed one by one because this runs for every recall: copying with a rest pattern takes ten times as long.
  return {
    get: reader.get,
    find: reader.find,
    around: reader.around,
    session: reader.session,
    votes: reader.votes,
    tombstones: reader.tombstones,
    uncompared: reader.uncompared,
    stated: reader.stated,
    standing: reader.standing,
    list: reader.list,
    operations: reader.operations,
    usage: reader.usage,
    place: reader.place,
    recordings: reader.recordings,
    async links(ids, minimum = 0, sequence = true) {
      return joinedLinks(
        await storedLinks(ids),
        !sequence || minimum > SEQUENCE_WEIGHT ? [] : await neighbours(ids),
        minimum,
      );
    },
    pendingPairs: (limit, after = 0) => pairs({ waiting: limit, after }),
    knownPairs: (ids) => pairs({ of: ids }),
    pair: async (sequence) => (await pairs({ sequence }))[0],
    history: (id) => events({ memory: id }),
    operation: (sequence) => events({ operation: sequence }),
    run: async (id) => [...new Set((await events({ run: id })).map(({ operation }) => operation))],
    removed: async () => (await events({ removed: true })).flatMap(({ before }) => before ?? []),
    settings: async () => (await state()).settings,
    async derivation() {
      const { embedding, analyzer } = await state();
      return { embedding, analyzer };
    },
    async activity(after, limit) {
      const from = after ?? (await reader.place());
      const most = after ? limit : 0;
      // Includes the event and the use at the place itself: `activityOf` makes its stamp from them.
      const [written, used] = await Promise.all([
        events({ after: from.sequence - 1, limit: most + 1 }),
        reader.usage(from.usage - 1, most + 1),
      ]);
      return activityOf(written, used, { after: from, limit: most });
    },
    linksAmong: async (ids) => mergedLinks(await storedLinks(ids, { among: true }), []),
  };
}

/** Merges stored links of at least `minimum` with the `sequence` links of sessions. */
export function joinedLinks(
  stored: readonly Link[],
  beside: readonly (Neighbours | undefined)[],
  minimum: number,
): readonly Link[] {
  const derived = beside.flatMap((each) => {
    if (!each) return [];
    const { memory, before, after } = each;
    return [before, after].flatMap((other) => (other ? [sequenceLink(memory, other)] : []));
  });
  return mergedLinks(
    stored.filter(({ weight }) => weight >= minimum),
    SEQUENCE_WEIGHT < minimum ? [] : derived,
  );
}

/** Builds a reader each of whose methods calls `reading`, and runs on the reader that `reading` passes to it. */
export function readingVerbs(
  reading: <Result>(verb: string, work: (reader: SpaceReader) => Promise<Result>) => Promise<Result>,
): SpaceReader {
  const read =
    <Name extends keyof SpaceReader>(verb: Name) =>
    (...given: Parameters<SpaceReader[Name]>) =>
      reading(verb, (reader) => (reader[verb] as (...given: unknown[]) => Promise<unknown>)(...given));
  return Object.fromEntries(READING_VERBS.map((verb) => [verb, read(verb)])) as unknown as SpaceReader;
}

const READING_VERBS = Object.keys({
  get: 0,
  links: 0,
  find: 0,
  pendingPairs: 0,
  knownPairs: 0,
  pair: 0,
  around: 0,
  session: 0,
  votes: 0,
  tombstones: 0,
  uncompared: 0,
  linksAmong: 0,
  stated: 0,
  standing: 0,
  removed: 0,
  history: 0,
  list: 0,
  settings: 0,
  derivation: 0,
  usage: 0,
  run: 0,
  operation: 0,
  operations: 0,
  activity: 0,
  place: 0,
  recordings: 0,
} satisfies Record<keyof SpaceReader, 0>) as readonly (keyof SpaceReader)[];
