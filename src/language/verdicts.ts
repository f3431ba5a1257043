import { SalienceError } from '../domain/errors.ts';
import { formatInstant, type Instant } from '../domain/time.ts';
import { type LanguageModel, type ModelUsage, usageIn } from '../providers/language-model.ts';
import { askModel, cleanText, listOutput, readListAnswer } from './answer.ts';
import { askBatches, type BatchFailure, type BatchOptions, cutBatches } from './batches.ts';
import { fence, type NewNonce } from './fence.ts';

export const VERDICTS = ['CONTRADICTION', 'UPDATE', 'OVERLAP', 'NONE'] as const;
/** How a newer statement relates to an older one. With either of the first two, it replaces the older one. */
export type Verdict = (typeof VERDICTS)[number];

export interface DatedStatement {
  readonly content: string;
  readonly at: Instant;
}

export interface StatementPair {
  readonly older: DatedStatement;
  readonly newer: DatedStatement;
}

export interface JudgedPair {
  readonly verdict: Verdict;
  /** The model's explanation. */
  readonly reason: string;
}

export interface Verdicts {
  /** One for each pair, in order; `undefined` if the model gave none, so that the pair stays unjudged. */
  readonly verdicts: readonly (JudgedPair | undefined)[];
  /**
   * Positions of pairs that got no verdict although the model answered. A failed server is not an answer; a refusal is.
   */
  readonly inVain: readonly number[];
  readonly failures: readonly BatchFailure[];
  readonly usage: ModelUsage;
}

const MOST_CHARACTERS = 24_000;

const instructions = `You look after the memory of an assistant. You compare pairs of remembered statements, an older and a newer one, each with the time when it was learned, and say how the newer stands to the older.

- CONTRADICTION: both are about the same thing and cannot both be true; the newer shows that the older was wrong.
- UPDATE: both are about the same thing; the older was true, and the newer says what has changed since.
- OVERLAP: they say the same, or one says more of the same, and both can be true.
- NONE: they are about different things, or do not touch each other.

Different people, places, times or things never contradict each other. Liking one thing does not mean disliking another. What happened once is not changed by what happens later. If in doubt between UPDATE or CONTRADICTION and another verdict, choose the other one: a statement that is replaced is no longer seen.

Answer once for each pair: its number, the reason in at most fifteen words, and then the verdict.`;

/** Judges pairs of statements; the default `batchSize` is 10 pairs. Throws `aborted` and `invalid_argument`. */
export async function judgePairs(
  model: LanguageModel,
  pairs: readonly StatementPair[],
  options: BatchOptions & { readonly newNonce: NewNonce },
): Promise<Verdicts> {
  const { z } = await import('zod');
  const schema = await listOutput(
    'verdicts',
    z.object({ pair: z.number(), reason: z.string().catch(''), verdict: z.enum(VERDICTS) }),
  );
  const batches = cutBatches(
    pairs,
    options.batchSize ?? 10,
    ({ older, newer }) => older.content.length + newer.content.length,
    MOST_CHARACTERS,
  );
  const verdicts = new Array<JudgedPair | undefined>(pairs.length).fill(undefined);
  const { failures, usage } = await askBatches(batches, options, async ({ items, start }, signal) => {
    const data = fence('pairs', items.map(shown), options.newNonce());
    const request = {
      system: `${instructions}\n\n${data.rule}`,
      prompt: `${data.block}\n\nJudge the ${items.length === 1 ? 'pair' : `${items.length} pairs`} above.`,
      schema,
      signal,
    };
    const { value, ...spent } = await askModel(model, request, readListAnswer);
    for (const { pair, verdict, reason } of value.items) {
      const position = start + pair - 1;
      // The first word on a pair counts.
      if (items[pair - 1] !== undefined && verdicts[position] === undefined) {
        verdicts[position] = { verdict, reason: cleanText(reason).slice(0, 300) };
      }
    }
    return { result: undefined, usage: spent };
  });
  const unusable = unanswered(verdicts, failures);
  const inVain = positionsOf([...failures.filter(hasAnswered), ...unusable]);
  return { verdicts, inVain, failures: [...failures, ...unusable], usage };
}

/** Statuses with which a server refuses a request as it is, so that repeating it is useless. */
const REFUSALS: ReadonlySet<unknown> = new Set([400, 413, 422]);

/** Whether the model answered. Only an answer has tokens, including one that was cut short or could not be read. */
function hasAnswered({ error }: BatchFailure): boolean {
  const isRefused = REFUSALS.has(error.details['status']);
  return error.code === 'model_invalid_output' || isRefused || usageIn(error).completionTokens > 0;
}

function positionsOf(failures: readonly BatchFailure[]): readonly number[] {
  return failures.flatMap(({ positions }) => positions);
}

/**
 * Returns the pairs without a verdict although the model answered: it judged other pairs, or its answer could not be
 * read.
 */
function unanswered(
  verdicts: readonly (JudgedPair | undefined)[],
  failures: readonly BatchFailure[],
): readonly BatchFailure[] {
  const failed = new Set(positionsOf(failures));
  const positions = [...verdicts.keys()].filter((at) => verdicts[at] === undefined && !failed.has(at));
  if (positions.length === 0) return [];
  const message = `the language model gave no usable verdict on ${positions.length} of ${verdicts.length} pairs; they go on waiting`;
  return [{ positions, error: new SalienceError('model_failed', message) }];
}

function shown({ older, newer }: StatementPair, index: number): object {
  return {
    pair: index + 1,
    older: { learned: formatInstant(older.at), statement: older.content },
    newer: { learned: formatInstant(newer.at), statement: newer.content },
  };
}
