import type { SpaceCore, SpaceReader, SpaceStore } from './store.ts';

/** A space with all verbs of reading, each of which is a snapshot of its own: what a store need not write itself. */
export function withReader(space: SpaceCore): SpaceStore {
  const read =
    <Name extends keyof SpaceReader>(name: Name) =>
    (...given: Parameters<SpaceReader[Name]>): ReturnType<SpaceReader[Name]> =>
      space.snapshot((snapshot) =>
        (snapshot[name] as (...given: unknown[]) => Promise<unknown>)(...given),
      ) as ReturnType<SpaceReader[Name]>;
  return {
    ...space,
    get: read('get'),
    links: read('links'),
    find: read('find'),
    pendingPairs: read('pendingPairs'),
    knownPairs: read('knownPairs'),
    pair: read('pair'),
    around: read('around'),
    session: read('session'),
    votes: read('votes'),
    tombstones: read('tombstones'),
    uncompared: read('uncompared'),
    linksAmong: read('linksAmong'),
    removed: read('removed'),
    history: read('history'),
    settings: read('settings'),
    run: read('run'),
    operation: read('operation'),
    operations: read('operations'),
    feed: read('feed'),
    list: read('list'),
    usage: read('usage'),
    place: read('place'),
    recordings: read('recordings'),
    derivation: read('derivation'),
  };
}
