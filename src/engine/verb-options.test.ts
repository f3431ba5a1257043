import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionNames, optionsAt, verbEntry } from '../domain/verbs.ts';
import {
  copySpaces,
  deleteSpace,
  type MemoryEngine,
  type OpenOptions,
  openMemory,
  SalienceError,
} from '../index.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import type { EngineVerb } from './verb-options.ts';

const opened = { path: ':memory:', space: 'alice', embedder: 'none', clock: createFakeClock().now } as const;

/** What comes before the options, for every verb: each of these calls succeeds. */
const given: { readonly [Verb in EngineVerb]: readonly unknown[] } = {
  remember: ['tea is hot'],
  rememberMany: [[{ content: 'coffee is hot' }]],
  observe: [[{ role: 'user', content: 'I like milk' }]],
  recall: ['tea'],
  context: ['tea'],
  bootstrap: [],
  pinned: [],
  get: ['a'],
  list: [],
  update: ['a', { content: 'changed' }],
  setImportance: ['a', 1],
  feedback: ['a', 'up'],
  markUsed: [['a']],
  forget: ['a'],
  undo: [],
  invalidate: ['a', 'wrong'],
  reinstate: ['a'],
  conflicts: [],
  resolve: ['1', 'keep-both'],
  recalls: [],
  replay: ['1'],
  history: ['a'],
  operations: [],
  activity: ['start'],
  beliefs: ['topic'],
  startSession: [],
  currentSession: [],
  endSession: ['done'],
  saveSummary: ['done'],
  timeline: ['a'],
  curve: ['a'],
  fit: [
    [
      { query: 'tea', relevant: ['a'] },
      { query: 'hot', relevant: ['a'] },
    ],
  ],
  links: ['a'],
  link: ['a', 'b'],
  unlink: ['a', 'b'],
  relate: ['a', 'knows', 'b'],
  unrelate: ['a', 'likes', 'b'],
  mergeEntities: ['a', 'b'],
  splitEntity: ['a', 'c'],
  entities: ['a'],
  neighbours: ['a'],
  paths: ['a', 'b'],
  configure: [],
  maintain: [],
  curate: [],
  stats: [],
  explain: ['a'],
  whyNot: ['a'],
  compare: ['tea'],
  strategies: [],
  importMemories: [[]],
  reindex: [],
  backup: ['copy.db'],
  check: [],
  health: [],
};
const verbs = Object.keys(given) as EngineVerb[];

async function sample(): Promise<MemoryEngine> {
  const memory = await openMemory(opened);
  await memory.startSession();
  await memory.rememberMany([
    {
      id: 'a',
      content: 'Ann drinks tea',
      topicKey: 'topic',
      relations: [{ from: 'a', name: 'likes', to: 'b' }],
    },
    { id: 'b', content: 'Ben drinks tea' },
  ]);
  return memory;
}

/** All that a verb could have changed. */
async function stateOf(memory: MemoryEngine): Promise<string> {
  const { trace } = await memory.recall('tea', { track: false });
  const { memories } = await memory.list({ limit: 1000 });
  const links = await Promise.all(['a', 'b'].map((id) => memory.links(id)));
  return JSON.stringify([
    trace.sequence,
    memories,
    links,
    await memory.stats(),
    await memory.currentSession(),
  ]);
}

const ask = (memory: MemoryEngine, verb: EngineVerb, options: unknown): Promise<unknown> =>
  (memory[verb] as (...given: readonly unknown[]) => Promise<unknown>)(...given[verb], options);

it('a language without a stemmer is told to be read as simple', async () => {
  await expect(openMemory({ ...opened, language: 'chinese' as never })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(
      /^language: "chinese" is not one of english, .*; use "simple" for every other/,
    ),
  });
});

describe('what is no such thing', () => {
  const refused: readonly [string, (memory: MemoryEngine) => Promise<unknown>][] = [
    ['parameters', (memory) => memory.fit([], { parameters: 'weights.similarity' as never })],
    ['memory', (memory) => memory.importMemories([null as never])],
    ['signal', (memory) => memory.activity('start', { signal: {} as never })],
    ['signal', (memory) => memory.list({ signal: 5 as never })],
    ['signal', (memory) => memory.recall('tea', { signal: null as never })],
    ['language', () => openMemory({ ...opened, language: 'klingon' as never })],
    ['clock', () => openMemory({ ...opened, clock: 5 as never })],
    ['newId', () => openMemory({ ...opened, newId: 5 as never })],
    ['tokenCounter', () => openMemory({ ...opened, tokenCounter: 5 as never })],
    ['dateReader', () => openMemory({ ...opened, dateReader: 5 as never })],
    ['languageModel', () => openMemory({ ...opened, languageModel: 'gpt-4o' as never })],
    ['languageModel', () => openMemory({ ...opened, languageModel: { doGenerate() {} } as never })],
    ['reranker', () => openMemory({ ...opened, reranker: {} as never })],
    ['store', () => openMemory({ ...opened, store: {} as never })],
    ['profiles', () => openMemory({ ...opened, profiles: 5 as never })],
    ['reindex', () => openMemory({ ...opened, reindex: 'yes' as never })],
    ['deleteSpace', () => deleteSpace(undefined as never)],
    ['path', () => deleteSpace({ space: 'alice' } as never)],
    ['from', () => copySpaces({} as never)],
    ['spaces', () => copySpaces({ spaces: 'alice' } as never)],
    [
      'newId',
      async () => {
        await using memory = await openMemory({ ...opened, newId: () => 5 as never });
        await memory.remember('tea');
      },
    ],
    [
      'newId',
      async () => {
        const newId = () => {
          throw new Error('no ids left');
        };
        await using memory = await openMemory({ ...opened, newId });
        await memory.remember('tea');
      },
    ],
  ];
  it.each(refused)('is refused as %s', async (field, call) => {
    await using memory = await sample();
    await expect(call(memory)).rejects.toMatchObject({ code: 'invalid_argument', details: { field } });
  });

  it.each([[[]], [new Map()], [true], [Number.NaN], [null]])(
    'is refused as parameters: %s',
    async (parameters) => {
      await using memory = await sample();
      await expect(memory.recall('tea', { parameters: parameters as never })).rejects.toMatchObject({
        code: 'invalid_parameter',
      });
    },
  );
});

describe('a value that JSON cannot hold', () => {
  const calls: readonly [name: string, code: string, call: (memory: MemoryEngine) => Promise<unknown>][] = [
    ['a time', 'invalid_time', (memory) => memory.remember('tea', { createdAt: 1n as never })],
    ['a present moment', 'invalid_time', (memory) => memory.recall('tea', { now: 1n as never })],
    ['a moment', 'invalid_time', (memory) => memory.recall('tea', { asOf: { known: 1n as never } })],
    ['a scope', 'invalid_scope', (memory) => memory.recall('tea', { scope: 1n as never })],
    ['a strategy', 'unknown_strategy', (memory) => memory.recall('tea', { strategy: 1n as never })],
    ['a place', 'invalid_argument', (memory) => memory.list({ around: 1n as never })],
    ['a space', 'invalid_space_name', () => openMemory({ ...opened, space: 1n as never })],
  ];
  it.each(calls)('is named as %s', async (_, code, call) => {
    await using memory = await sample();
    await expect(call(memory)).rejects.toMatchObject({ code, message: expect.stringMatching(/\b1\b/) });
  });
});

const strangeNames = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'user_id',
    'topK',
    'threshold',
    'relation',
    'Limit',
  ),
  fc.constantFrom(...new Set(verbs.flatMap((verb) => optionNames(verbEntry(verb))))),
  fc.string({ maxLength: 20 }),
);

describe('what callers do with their objects afterwards', () => {
  it('does not reach a change that is under way', async () => {
    await using memory = await sample();
    const changes = { importance: 0.9, tags: ['tea'], metadata: { cups: { big: 1 } } };
    const first = memory.update('a', changes);
    changes.importance = 0.1;
    changes.tags.push('late');
    changes.metadata.cups.big = 2;
    expect(await first).toMatchObject({ importance: 0.9, tags: ['tea'], metadata: { cups: { big: 1 } } });
  });

  it('turns no dry run into a wet one', async () => {
    await using memory = await sample();
    const options = { dryRun: true };
    const dry = memory.forget({ types: ['fact'] }, options);
    options.dryRun = false;
    expect(await dry).toMatchObject({ dryRun: true, count: 2 });
    expect(await memory.get('a')).toBeDefined();
  });

  it('changes neither what a recall looks for nor when it is', async () => {
    await using memory = await sample();
    await memory.remember('Tea time', { id: 'c', type: 'event' });
    const options = { maxTokens: 300, types: ['fact'] };
    const context = memory.context('tea', options);
    options.types[0] = 'event';
    expect((await context).items.map((item) => item.memory.id).sort()).toEqual(['a', 'b']);
    const now = new Date('2100-01-01');
    const invalidated = memory.invalidate('c', 'over', { now });
    now.setFullYear(1990);
    expect(await invalidated).toMatchObject({ invalidatedAt: '2100-01-01T00:00:00.000Z' });
  });

  it('is refused as before where it is no data', async () => {
    await using memory = await sample();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const metadata of [circular, JSON.parse('{"__proto__": {"a": 1}}'), { call() {} }, new Map()])
      await expect(memory.update('a', { metadata: metadata as never })).rejects.toMatchObject({
        code: 'invalid_argument',
      });
  });
});

describe('every verb', () => {
  it('has an entry whose options stand behind what it must be given', () => {
    expect(verbs.length).toBeGreaterThan(30);
    for (const verb of verbs) expect(optionsAt(verbEntry(verb)), verb).toBe(given[verb].length);
  });

  it('refuses an option that it does not have, and writes nothing', async () => {
    await using memory = await sample();
    const before = await stateOf(memory);
    const property = fc.asyncProperty(fc.constantFrom(...verbs), strangeNames, async (verb, name) => {
      fc.pre(!optionNames(verbEntry(verb)).includes(name));
      const options = JSON.parse(`{"maxTokens":100,${JSON.stringify(name)}:1}`);
      const only = JSON.parse(`{${JSON.stringify(name)}:1}`);
      await expect(ask(memory, verb, verb === 'context' ? options : only)).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(`${verb}: unknown option ${JSON.stringify(name)}`),
      });
    });
    await fc.assert(property, { numRuns: 300 });
    for (const verb of verbs) {
      await expect(ask(memory, verb, { nobodyReadsThis: undefined }), verb).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    }
    expect(await stateOf(memory)).toBe(before);
  });

  it('does not begin when its signal is aborted', async () => {
    await using memory = await sample();
    const before = await stateOf(memory);
    const signal = AbortSignal.abort();
    for (const verb of verbs) {
      expect(optionNames(verbEntry(verb)), verb).toContain('signal');
      await expect(
        ask(memory, verb, { signal, ...(verb === 'context' && { maxTokens: 9 }) }),
        verb,
      ).rejects.toMatchObject({
        code: 'aborted',
      });
    }
    expect(await stateOf(memory)).toBe(before);
  });
});

describe('an option that is on or off', () => {
  const switches = verbs.flatMap((verb) =>
    optionNames(verbEntry(verb))
      .filter((name) => verbEntry(verb).arguments?.[name]?.type === 'boolean' || name === 'renew')
      .map((name) => [verb, name] as const),
  );

  it('is refused in every verb when it is neither true nor false, and nothing is written', async () => {
    expect(switches).toContainEqual(['maintain', 'dryRun']);
    expect(switches).toContainEqual(['forget', 'dryRun']);
    expect(switches).toContainEqual(['curate', 'useModel']);
    expect(switches).toContainEqual(['recall', 'deep']);
    await using memory = await sample();
    const before = await stateOf(memory);
    for (const [verb, name] of switches) {
      for (const value of [1, 0, 'false', null, {}, []]) {
        const options = { [name]: value, ...(verb === 'context' && { maxTokens: 9 }) };
        await expect(ask(memory, verb, options), `${verb} ${name}`).rejects.toMatchObject({
          code: 'invalid_argument',
          message: expect.stringMatching(`^${name}: .* must be true or false$`),
          details: { field: name },
        });
      }
    }
    expect(await stateOf(memory)).toBe(before);
  });

  it.each(['a', {}, 1])('maintain does not take consolidate: %o', async (consolidate) => {
    await using memory = await sample();
    await expect(memory.maintain({ consolidate } as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'consolidate: give true, false or a list of ids',
    });
  });

  it('is refused within a filter of forget and within association', async () => {
    await using memory = await sample();
    await expect(memory.forget({ inScope: 'global', below: 'false' } as never)).rejects.toThrow(
      'below: "false" must be true or false',
    );
    await expect(memory.recall('tea', { association: { sequence: 'no' } } as never)).rejects.toThrow(
      'association.sequence: "no" must be true or false',
    );
  });
});

it.each(verbs.filter((verb) => optionNames(verbEntry(verb)).includes('now')))(
  '%s refuses a moment that is none',
  async (verb) => {
    await using memory = await sample();
    await expect(ask(memory, verb, { now: 'x' })).rejects.toMatchObject({
      code: 'invalid_time',
      details: { field: 'now' },
    });
  },
);

it('refuses a moment that is none where there is nothing to do, too', async () => {
  await using memory = await sample();
  for (const asked of [
    memory.rememberMany([], { now: 'x' }),
    memory.importMemories([], { now: 'x' }),
    memory.markUsed(['nobody'], { now: 'x' }),
    memory.forget([], { now: 'x' }),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'invalid_time', details: { field: 'now' } });
});

it.each(verbs.filter((verb) => optionNames(verbEntry(verb)).includes('progress')))(
  '%s refuses progress that is no function',
  async (verb) => {
    await using memory = await sample();
    await expect(ask(memory, verb, { progress: 5 })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'progress: 5 must be a function',
    });
  },
);

describe('objects within options', () => {
  it.each([
    ['asOf', { asOf: { know: '2026-01-01' } }, 'asOf: unknown option "know" (did you mean "known"?)'],
    ['association', { association: { mimimum: 0.2 } }, 'did you mean "minimum"?'],
    ['metadata', { metadata: { priority: { atleast: 3 } } }, 'did you mean "atLeast"?'],
  ])('%s has no other names', async (_, options, message) => {
    await using memory = await sample();
    await expect(memory.recall('tea', options as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['curate', 'prune', 'actions'],
    ['curate', {}, 'actions'],
    ['neighbours', 'knows', 'relations'],
    ['paths', 'knows', 'relations'],
    ['context', 'facts', 'sections'],
    ['context', { facts: -1 }, 'sections'],
  ] as const)('%s does not take %j as %s', async (verb, value, name) => {
    await using memory = await sample();
    const options = { [name]: value, ...(verb === 'context' && { maxTokens: 100 }) };
    await expect(ask(memory, verb, options)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: `${name}: expected a list`,
    });
  });

  it('sections have no other names', async () => {
    await using memory = await sample();
    const sections = [{ name: 'mine', types: ['fact'], share: 1, takeOthers: true }];
    await expect(memory.context('tea', { maxTokens: 100, sections } as never)).rejects.toMatchObject({
      message: 'sections[0]: unknown option "takeOthers" (did you mean "takesOthers"?)',
    });
  });

  it('a memory among many has no other names', async () => {
    await using memory = await sample();
    await expect(memory.rememberMany([{ content: 'x', tag: ['y'] }] as never)).rejects.toThrow(
      'memory: unknown option "tag" (did you mean "tags"?)',
    );
    await expect(memory.update('a', { contents: 'x' } as never)).rejects.toThrow('did you mean "content"?');
  });
});

describe('openMemory', () => {
  const open = (options?: unknown) => openMemory(options as OpenOptions);

  it.each([
    [undefined, 'openMemory: expected an object of options'],
    [{ path: ':memory:', user_id: 'alice' }, 'openMemory: unknown option "user_id"'],
    [{ ...opened, embeder: 'none' }, 'did you mean "embedder"?'],
    [{ path: ':memory:' }, 'space: required: it says whose memory this is, for example openMemory({'],
    [{ space: 'alice' }, 'path: '],
    [{ ...opened, reindex: { signals: 1 } }, 'reindex: unknown option "signals" (did you mean "signal"?)'],
    [{ ...opened, reindex: { progress: 5 } }, 'reindex.progress: 5 must be a function'],
    [{ ...opened, reinforcement: { drect: 0.1 } }, 'did you mean "direct"?'],
    [{ ...opened, reinforcement: { direct: -5 } }, 'reinforcement.direct: -5 must be a number from 0 to 1'],
    [{ ...opened, reinforcement: { link: Number.NaN } }, 'reinforcement.link: NaN'],
    [{ ...opened, reinforcement: { associative: 1.01 } }, 'reinforcement.associative: 1.01'],
    [{ ...opened, reinforcement: { coreStability: '1' } }, 'reinforcement.coreStability: "1"'],
    [{ ...opened, reinforcement: { coreSessions: 0.5 } }, 'reinforcement.coreSessions: 0.5'],
    [{ ...opened, reinforcement: { coreAccessCount: Infinity } }, 'reinforcement.coreAccessCount: Infinity'],
    [{ ...opened, conflictThreshold: Number.NaN }, 'conflictThreshold: NaN'],
    [{ ...opened, conflictThreshold: 1.5 }, 'conflictThreshold: 1.5'],
    [{ ...opened, maxContentBytes: 0 }, 'maxContentBytes: 0'],
    [{ ...opened, maxContentBytes: Number.NaN }, 'maxContentBytes: NaN'],
    [{ ...opened, synchronous: 'fast' }, 'synchronous: "fast" is not one of full, normal'],
  ])('refuses %o', async (options, message) => {
    await expect(open(options)).rejects.toMatchObject({
      name: 'SalienceError',
      code: 'invalid_argument',
      message: expect.stringContaining(message),
    });
  });

  it('takes rates at their bounds', async () => {
    const reinforcement = {
      direct: 0,
      associative: 1,
      link: 1,
      coreAccessCount: 0,
      coreStability: 1,
      coreSessions: 0,
    };
    await using memory = await open({
      ...opened,
      maxContentBytes: Infinity,
      conflictThreshold: 1,
      reinforcement,
    });
    expect(memory.space).toBe('alice');
  });
});

it('a context without a budget says what it needs', async () => {
  await using memory = await sample();
  await expect(
    (memory.context as unknown as (query: string) => Promise<unknown>)('tea'),
  ).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/give maxTokens, .* or window/),
  });
});

it('a query may be left out, and the options stand first then', async () => {
  await using memory = await sample();
  const { hits, trace } = await memory.recall({ strategy: 'ambient', limit: 1 });
  expect(trace.strategy).toBe('ambient');
  expect(hits).toHaveLength(1);
  const ambient = { strategy: 'ambient', limit: 1 };
  expect(
    await (memory.recall as (...given: unknown[]) => Promise<unknown>)(ambient, undefined),
  ).toMatchObject({
    hits: [{ memory: hits[0]?.memory }],
  });
  const { items } = await memory.context({ maxTokens: 1000 });
  expect(items.map(({ id }) => id).sort()).toEqual(['a', 'b']);
  await expect(memory.recall({ strategie: 'ambient' } as never)).rejects.toThrow(
    'recall: unknown option "strategie" (did you mean "strategy"?)',
  );
  await expect(memory.recall({ limit: 1 })).rejects.toMatchObject({ code: 'blank_query' });
});

it.each([
  ['recall', ['tea', { top_k: 5 }], 'limit'],
  ['recall', ['tea', { threshold: 0.5 }], 'minRelevance'],
  ['recall', ['tea', { filters: {} }], 'metadata'],
  ['context', ['tea', { tokens: 100 }], 'maxTokens'],
  ['remember', ['tea', { category: 'fact' }], 'type'],
  ['remember', ['tea', { labels: ['tea'] }], 'tags'],
  ['remember', ['tea', { timestamp: 0 }], 'createdAt'],
  ['remember', ['tea', { run_id: 'a' }], 'sessionId'],
  ['remember', ['tea', { speaker: 'Ann' }], 'author'],
  ['remember', ['tea', { expiration_date: '2030-01-01' }], 'expiresAt'],
] as const)('%s with %j: suggests what other libraries call otherwise', async (verb, args, meant) => {
  await using memory = await openMemory(opened);
  const call = memory[verb] as (...args: readonly unknown[]) => Promise<unknown>;

  await expect(call(...args)).rejects.toThrow(`(did you mean ${JSON.stringify(meant)}?)`);
});

it.each([
  [{ db: 'x' }, 'path'],
  [{ userId: 'x' }, 'space'],
  [{ embeddings: 'x' }, 'embedder'],
  [{ llm: 'x' }, 'languageModel'],
])('openMemory with %j: suggests what other libraries call otherwise', async (options, meant) => {
  await expect(openMemory(options as never)).rejects.toThrow(`(did you mean ${JSON.stringify(meant)}?)`);
});

describe('an id that is none', () => {
  const strange = [undefined, null, 7, true, {}, [], Symbol('s'), new Date(Number.NaN), '\ud800', '\u0000'];

  it.each(verbs)('is an error of this engine in %s, whatever it is', async (verb) => {
    await using memory = await sample();
    const before = await stateOf(memory);
    const call = memory[verb] as (...given: readonly unknown[]) => Promise<unknown>;
    const places = (verbEntry(verb).takes ?? []).flatMap((name, place) =>
      verbEntry(verb).arguments?.[name]?.isId && verb !== 'forget' ? [place] : [],
    );
    for (const place of places) {
      for (const value of strange) {
        const said = given[verb].map((each, at) => (at === place ? value : each));
        const outcome = await call(...said).catch((error: unknown) => error);
        if (typeof value === 'string') expect(isRefused(outcome)).toBe(true);
        else
          expect(outcome).toMatchObject({
            code: 'invalid_argument',
            details: { field: verbEntry(verb).takes?.[place] },
          });
      }
    }
    expect(await stateOf(memory)).toBe(before);
  });

  /** A text that names no memory is not found, or cannot be read; what asks for it has nothing. */
  function isRefused(outcome: unknown): boolean {
    return (
      SalienceError.isInstance(outcome) ||
      outcome === undefined ||
      (Array.isArray(outcome) && outcome.length === 0)
    );
  }
});
