import fc from 'fast-check';
import { SalienceError } from '../domain/errors.ts';
import { type MemoryEngine, RESOLUTIONS } from '../index.ts';

/** An action of a user. If it is not possible at the time, it is refused and changes nothing. */
export interface Step {
  readonly title: string;
  run(memory: MemoryEngine): Promise<unknown>;
}

const contents = [
  'Anna drinks coffee in Lisbon',
  'Anna drinks coffee in Porto',
  'Anna drinks tea',
  'Ben drinks green tea at home',
  'Ben hates coffee',
  'The train to Lisbon leaves at nine',
  'The train to Lisbon leaves at ten',
  'Nobody drinks milk',
];
const scopes = ['global', 'project:a', 'project:a/part:b', 'project:b'];

/** Draws steps in these scopes that only concern memories in them. Without `forgetting`, nothing is erased. */
export function arbitraryStep(options: {
  readonly forgetting: boolean;
  readonly scopes?: readonly string[] | undefined;
}): fc.Arbitrary<Step> {
  const where = options.scopes ?? scopes;
  /** Chooses an existing memory by a number. */
  const one = fc.nat(99);
  const picked = async (memory: MemoryEngine, at: number): Promise<string> => {
    const { memories } = await memory.list({ limit: 1000 });
    const ids = memories.filter(({ scope }) => where.includes(scope)).map(({ id }) => id);
    return ids.toSorted()[at % ids.length] ?? 'nothing';
  };
  const content = fc.constantFrom(...contents);
  const scope = fc.constantFrom(...where);
  const optional = <Value>(arbitrary: fc.Arbitrary<Value>, freq = 2) =>
    fc.option(arbitrary, { nil: undefined, freq });
  const statement = fc.record({
    content,
    scope,
    type: fc.constantFrom('fact', 'plan', 'event'),
    topicKey: optional(fc.constantFrom('drink', 'train')),
    sessionId: optional(fc.constantFrom('s', 't')),
    importance: fc.constantFrom(0, 0.5, 1),
    validUntil: optional(fc.constantFrom('2026-01-20', '2026-04-01'), 1),
    // Maintenance forgets expired memories.
    expiresAt: options.forgetting ? optional(fc.constant('2026-02-01'), 1) : fc.constant(undefined),
  });
  const step = <Input>(
    title: string,
    weight: number,
    input: fc.Arbitrary<Input>,
    run: (memory: MemoryEngine, input: Input) => Promise<unknown>,
  ) => ({
    weight,
    arbitrary: input.map(
      (given): Step => ({
        title: `${title} ${JSON.stringify(given)}`,
        run: (memory) => run(memory, given),
      }),
    ),
  });
  return fc.oneof(
    step(
      'remember',
      8,
      fc.tuple(statement, optional(one)),
      async (memory, [{ content: said, ...more }, older]) =>
        memory.remember(said, {
          ...more,
          supersedes: older === undefined ? undefined : await picked(memory, older),
        }),
    ),
    step('batch', 3, fc.array(statement, { minLength: 2, maxLength: 4 }), (memory, batch) =>
      memory.rememberMany(batch),
    ),
    step(
      'update',
      3,
      fc.tuple(one, fc.record({ content: optional(content), importance: fc.constantFrom(0, 1) })),
      async (memory, [at, changes]) => memory.update(await picked(memory, at), changes),
    ),
    step(
      'use',
      6,
      fc.record({
        query: content,
        strategy: fc.constantFrom('retention', 'five-factor'),
        sessionId: optional(fc.constantFrom('x', 'y', 'z')),
        scope,
        deep: fc.boolean(),
      }),
      (memory, { query, ...more }) => memory.recall(query, more),
    ),
    step('link', 3, fc.tuple(one, one), async (memory, [a, b]) =>
      memory.link(await picked(memory, a), await picked(memory, b)),
    ),
    step('unlink', 1, fc.tuple(one, one), async (memory, [a, b]) =>
      memory.unlink(await picked(memory, a), await picked(memory, b)),
    ),
    step('invalidate', 2, one, async (memory, at) => memory.invalidate(await picked(memory, at), 'wrong')),
    step('reinstate', 1, one, async (memory, at) => memory.reinstate(await picked(memory, at))),
    step('maintain', 2, fc.boolean(), (memory, consolidate) => memory.maintain({ consolidate })),
    step(
      'resolve',
      3,
      fc.constantFrom(...RESOLUTIONS.filter((each) => options.forgetting || each !== 'delete')),
      async (memory, resolution) => {
        const [conflict] = await memory.conflicts();
        return conflict && memory.resolve(conflict.conflictId, resolution);
      },
    ),
    step('undo', 3, fc.constant(null), (memory) => memory.undo()),
    step('session', 2, fc.record({ scope }), (memory, given) => memory.startSession(given)),
    step('summary', 1, content, (memory, summary) => memory.endSession(summary)),
    ...(options.forgetting
      ? [step('forget', 2, one, async (memory, at) => memory.forget(await picked(memory, at)))]
      : []),
  );
}

/** Performs a step. A typed error is a valid result; any other error is a failure. */
export async function attempt(memory: MemoryEngine, step: Step): Promise<unknown> {
  try {
    return await step.run(memory);
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    return { refused: error.code, message: error.message };
  }
}
