import { type Command, InvalidArgumentError } from 'commander';
import type { ProfileDefinition, RecallOptions } from '../index.ts';
import { strategyOf } from '../recall/strategy.ts';
import { defineProfile } from '../scoring/index.ts';
import { findBuiltinProfile } from '../scoring/profiles/index.ts';
import type { Context } from './context.ts';
import { addFilterOptions, type FilterFlags, filtersOf } from './filters.ts';
import { AS_OF, asOfOf, type LookBackFlags, VALID_AT } from './look-back.ts';
import { collectPairs, type NamedValues, parseWholeNumber } from './options.ts';
import { readDefinition } from './profile-file.ts';

/** The options of everything that ranks. */
export interface StrategyFlags extends FilterFlags, LookBackFlags {
  readonly strategy?: string | undefined;
  readonly profile?: string | undefined;
  readonly limit?: number | undefined;
  readonly minScore?: number | undefined;
  readonly param?: NamedValues | undefined;
  readonly deep?: boolean | undefined;
  readonly includeExpired?: boolean | undefined;
}

export function addStrategyOptions(command: Command): Command {
  command
    .option('--strategy <name>', 'how to rank; salience profiles lists them (default: hybrid)')
    .option('--profile <file>', 'rank by the formula of your own in this JSON file')
    .option('--limit <number>', 'how many memories at most (default: as the strategy says)', parseWholeNumber)
    .option(
      '--min-score <number>',
      'nothing below this score, from 0 to 1 (default: as the strategy says)',
      parseScore,
    )
    .option(
      '--param <name=value>',
      'set a parameter of the formula; may be given several times',
      collectPairs,
    )
    .option('--deep', 'cold memories too')
    .option('--include-expired', 'plans and transient states too that have ended')
    .option(...AS_OF)
    .option(...VALID_AT);
  return addFilterOptions(command);
}

/** What the options mean for a recall, and the profiles that have to be known for it. */
export async function readStrategy({ options, signal, misused }: Context<StrategyFlags>): Promise<{
  readonly profiles: readonly ProfileDefinition[];
  readonly recall: RecallOptions;
  /** Whether a recall by this strategy learns from its answer, and so writes. */
  readonly writes: boolean;
  /** The same of a context by this strategy. */
  readonly contextWrites: boolean;
}> {
  if (options.strategy !== undefined && options.profile !== undefined) {
    misused('give --strategy or --profile, not both');
  }
  const asOf = asOfOf(options);
  const definition = options.profile === undefined ? undefined : await readDefinition(options.profile);
  const profile = definition ? defineProfile(definition) : findBuiltinProfile(options.strategy ?? 'hybrid');
  const strategy = profile && strategyOf(profile);
  return {
    // A strategy that nobody knows is refused by the recall itself.
    writes: strategy !== undefined && strategy.effect !== 'none' && asOf === undefined,
    contextWrites: strategy !== undefined && strategy.context.effect !== 'none' && asOf === undefined,
    profiles: definition ? [definition] : [],
    recall: {
      ...filtersOf(options),
      strategy: definition?.name ?? options.strategy,
      limit: options.limit,
      minScore: options.minScore,
      parameters: options.param,
      deep: options.deep,
      includeExpired: options.includeExpired,
      asOf,
      signal,
    },
  };
}

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() !== '' && score >= 0 && score <= 1) return score;
  throw new InvalidArgumentError('It must be a number within 0 and 1.');
}
