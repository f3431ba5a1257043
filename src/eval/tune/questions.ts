import { invalidArgument } from '../../domain/check.ts';
import { clip } from '../../domain/clip.ts';
import { throwIfAborted } from '../../domain/errors.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { QuestionFeatures } from '../../fit/features.ts';
import type { FitQuestion } from '../../fit/fit.ts';
import { seedOf, shuffled } from '../../fit/random.ts';
import { mapConcurrently } from '../concurrency.ts';
import type { Dataset, DatasetSpace } from '../dataset.ts';
import { countedOutcomes } from '../report.ts';
import type { EvaluationEngine } from '../run.ts';

/** A question of a dataset, prepared for a fit. */
export interface TunedQuestion extends FitQuestion {
  readonly dataset: number;
  readonly type: string;
  readonly weight: number;
}

export interface GatherOptions {
  readonly datasets: readonly Dataset[];
  readonly strategy: string;
  readonly excludeTypes: readonly string[] | undefined;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;
  readonly onQuestion: () => void;
}

/** Returns the questions of a space that the headline of a result would count, in their order. */
export function countedQueries(
  space: DatasetSpace,
  excludeTypes: readonly string[] | undefined,
): DatasetSpace['queries'] {
  return countedOutcomes(space.queries, excludeTypes);
}

/**
 * Opens each space once and reads the features of each question for the strategy's formula. Spaces with mostly the
 * same memories are held out together, whatever their names and files, because a fit must not see the data it is
 * measured on. Throws `invalid_argument` if such spaces share a question, for example because a dataset is given twice.
 */
export async function gatherQuestions(
  { datasets, strategy, excludeTypes, seed, signal, onQuestion }: GatherOptions,
  engine: EvaluationEngine,
): Promise<readonly TunedQuestion[]> {
  const spaces = datasets.flatMap((dataset, place) =>
    [...dataset.spaces].map(([name, space]) => ({
      ...{ place, name, memories: space.memories },
      queries: countedQueries(space, excludeTypes),
    })),
  );
  const asked = spaces.filter(({ queries }) => queries.length > 0);
  const heldOutAs = groupsOf(asked, datasets);
  const gathered = await mapConcurrently(
    asked,
    {
      ...{ concurrency: engine.concurrency, signal },
      costOf: ({ memories, queries }) => memories.length * (1 + queries.length),
    },
    async (space, either) => {
      const { place, name, memories, queries } = space;
      throwIfAborted(either);
      const opened = await engine.open(name);
      try {
        if (!opened.features)
          throw invalidArgument('engine', 'it does not report the features that its formulas read');
        const kept = await opened.load(memories, { signal: either });
        const ids = memories.map(({ id }) => id).filter((id) => !kept.has(id));
        const drawn = shuffled(ids, seedOf(seed, 'tune placebo', String(place), name));
        const placeboOf = new Map(ids.map((id, at) => [id, drawn[at] as string]));
        const said = new Map(memories.map(({ id, content }) => [id, normalisedContent(content)]));
        const questions: TunedQuestion[] = [];
        for (const { query, now, type, weight = 1, relevant } of queries) {
          throwIfAborted(either);
          const features = await opened.features(query, { strategy, now });
          const wanted = new Set(relevant.map((id) => kept.get(id) ?? id));
          questions.push({
            ...{ space: heldOutAs.get(space) as string, dataset: place, type, weight, relevant: wanted },
            answers: new Set([...wanted].map((id) => said.get(id) as string)),
            placebo: new Set([...wanted].map((id) => placeboOf.get(id) as string)),
            features: sharing(questions.at(-1)?.features, features),
          });
          onQuestion();
        }
        return questions;
      } finally {
        await opened.close();
      }
    },
  );
  return gathered.flat();
}

interface AskedSpace extends DatasetSpace {
  /** The index of its dataset. */
  readonly place: number;
  readonly name: string;
}

/**
 * Returns the name under which each space is held out: that of the first space that it shares most of its statements
 * with, directly or through others. A dataset that is made from a store again some weeks later holds nearly the same
 * memories and questions as the earlier one, and a fit on either has seen the other.
 */
function groupsOf(
  spaces: readonly AskedSpace[],
  datasets: readonly Dataset[],
): ReadonlyMap<AskedSpace, string> {
  // Only the statements are compared, because a fit learns from them, and each once, as the store keeps it. Ids, dates,
  // white space and the order of lines may differ.
  const statements = spaces.map(
    ({ memories }) => new Set(memories.map(({ content }) => normalisedContent(content))),
  );
  const first = firstAlike(statements);
  const isSame = (one: number, other: number) => {
    const [left, right] = [statements[one], statements[other]] as [Set<string>, Set<string>];
    return left.size === right.size && [...left].every((text) => right.has(text));
  };
  const asked = new Map<string, AskedQuery[]>();
  for (const [at, space] of spaces.entries()) {
    const contents = new Map(space.memories.map(({ id, content }) => [id, normalisedContent(content)]));
    for (const { query, relevant } of space.queries) {
      const answers = relevant.map((id) => contents.get(id) as string);
      const key = JSON.stringify([first[at], normalisedContent(query)]);
      const before = asked.get(key) ?? [];
      const twin = before.find(
        (each) =>
          each.at !== at && (isSame(each.at, at) || each.answers.some((answer) => answers.includes(answer))),
      );
      if (twin) {
        const [one, other] = [twin.at, at].map((each) => {
          const { place, name } = spaces[each] as AskedSpace;
          return `${name} of ${datasets[place]?.name}`;
        });
        const held = isSame(twin.at, at) ? 'the same memories' : 'mostly the same memories';
        throw invalidArgument(
          'datasets',
          `spaces ${one} and ${other} hold ${held} and ask the same question, ${JSON.stringify(clip(query, 100))}; leave one of them out`,
        );
      }
      asked.set(key, [...before, { at, answers }]);
    }
  }
  return new Map(
    spaces.map((space, at) => {
      const { place, name } = spaces[first[at] as number] as AskedSpace;
      return [space, `${place}/${name}`];
    }),
  );
}

interface AskedQuery {
  /** The index of its space. */
  readonly at: number;
  readonly answers: readonly string[];
}

/**
 * Returns for each set the index of the first set that is alike, directly or through others. Two sets are alike if more
 * than half of the smaller one is in both.
 */
function firstAlike(sets: readonly ReadonlySet<string>[]): readonly number[] {
  const first = [...sets.keys()];
  const firstOf = (at: number): number => {
    let found = at;
    while (first[found] !== found) found = first[found] as number;
    return found;
  };
  const holders = new Map<string, number[]>();
  for (const [at, texts] of sets.entries()) {
    const shared = new Map<number, number>();
    for (const text of texts) {
      const others = holders.get(text) ?? [];
      for (const other of others) shared.set(other, (shared.get(other) ?? 0) + 1);
      holders.set(text, others);
      others.push(at);
    }
    for (const [other, count] of shared) {
      if (2 * count <= Math.min(texts.size, sets[other]?.size ?? 0)) continue;
      const [one, two] = [firstOf(other), firstOf(at)];
      first[Math.max(one, two)] = Math.min(one, two);
    }
  }
  return first.map((_, at) => firstOf(at));
}

/**
 * Returns the features with arrays of the previous question reused where they are equal, as those of the memories are.
 */
function sharing(before: QuestionFeatures | undefined, features: QuestionFeatures): QuestionFeatures {
  if (!before) return features;
  const share = <Values extends Float64Array | readonly string[]>(
    known: Values | undefined,
    values: Values,
  ) =>
    known?.length === values.length && known.every((each, at) => Object.is(each, values[at]))
      ? known
      : values;
  const each = <Columns extends Readonly<Record<string, Float64Array | readonly string[]>>>(
    known: Columns,
    columns: Columns,
  ) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [name, share(known[name], values)]),
    ) as unknown as Columns;
  return {
    ...features,
    ids: share(before.ids, features.ids),
    signals: each(before.signals, features.signals),
    clocks: each(before.clocks, features.clocks),
    attributes: each(before.attributes, features.attributes),
    updatedAt: share(before.updatedAt, features.updatedAt),
    ordinal: share(before.ordinal, features.ordinal),
  };
}

/** How questions are weighted; see `sharesOf`. */
export const BALANCES = ['types', 'datasets', 'questions'] as const;
export type Balance = (typeof BALANCES)[number];

/**
 * Returns the share of each question in the mean. `types`: all datasets have equal weight, and within a dataset all
 * types of questions; `datasets`: all datasets; `questions`: all questions.
 */
export function sharesOf(questions: readonly TunedQuestion[], balance: Balance): readonly number[] {
  const groupOf = ({ dataset, type }: TunedQuestion) =>
    balance === 'questions' ? '' : balance === 'datasets' ? `${dataset}` : `${dataset}/${type}`;
  const totals = new Map<string, number>();
  for (const question of questions) {
    const group = groupOf(question);
    totals.set(group, (totals.get(group) ?? 0) + question.weight);
  }
  const groups = [...totals.keys()];
  const datasetOf = (group: string) => group.split('/')[0];
  return questions.map((question) => {
    const group = groupOf(question);
    const beside = groups.filter((each) => datasetOf(each) === datasetOf(group)).length;
    return question.weight / (totals.get(group) as number) / beside;
  });
}
