import type { Command } from 'commander';
import type { VerbName } from '../domain/verbs.ts';
import { strategyOf } from '../engine/recall/strategy.ts';
import type { ProfileDefinition, RecallOptions } from '../index.ts';
import { defineProfile } from '../scoring/index.ts';
import { findBuiltinProfile } from '../scoring/profiles/index.ts';
import type { Context } from './context.ts';
import type { LookBackFlags } from './look-back.ts';
import { profileFile, readDefinition } from './profile-file.ts';
import { addVerbOptions, argumentsOf } from './verb-options.ts';

/** The options of all commands that rank. */
export interface StrategyFlags extends LookBackFlags {
  readonly strategy?: string | undefined;
  readonly profile?: string | undefined;
  readonly scope?: string | undefined;
  readonly track?: boolean | undefined;
}

/** Adds the options of a verb that ranks. */
export function addStrategyOptions(command: Command, verb: VerbName, ...but: readonly string[]): Command {
  return addVerbOptions(command, verb, ...but).option(
    '--profile <file>',
    'rank by your own formula in this JSON file',
  );
}

/** Converts the options for a verb that ranks. `profiles` are those that must be registered for it. */
export async function readStrategy(
  { options, signal, misused }: Context<StrategyFlags>,
  verb: VerbName,
  ...but: readonly string[]
): Promise<{
  readonly profiles: readonly ProfileDefinition[];
  readonly given: RecallOptions;
  /** Whether a recall by this strategy learns from its answer, and so writes. */
  readonly writes: boolean;
  /** The same for a context with this strategy. */
  readonly contextWrites: boolean;
}> {
  if (options.strategy !== undefined && options.profile !== undefined) {
    misused('give --strategy or --profile, not both');
  }
  const given = argumentsOf(verb, options, ...but);
  const file = profileFile(options);
  const definition = file === undefined ? undefined : await readDefinition(file);
  const profile = definition ? defineProfile(definition) : findBuiltinProfile(options.strategy ?? 'hybrid');
  const strategy = profile && strategyOf(profile);
  const learns = options.track !== false && given['asOf'] === undefined;
  return {
    // The recall itself refuses an unknown strategy.
    writes: strategy !== undefined && strategy.effect !== 'none' && learns,
    contextWrites: strategy !== undefined && strategy.context.effect !== 'none' && learns,
    profiles: definition ? [definition] : [],
    given: { ...given, strategy: definition?.name ?? options.strategy, signal },
  };
}
