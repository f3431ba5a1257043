import type { Command } from 'commander';
import type { FilterOptions, MetadataFilter } from '../index.ts';
import { collect } from './options.ts';
import { collectWhere } from './where.ts';

/** The options that narrow down which memories are looked at. */
export interface FilterFlags {
  readonly scope?: string | undefined;
  readonly inScope?: string | undefined;
  readonly type?: readonly string[] | undefined;
  readonly notType?: readonly string[] | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly where?: MetadataFilter | undefined;
}

export function addFilterOptions(command: Command): Command {
  command.option(
    '--scope <scope>',
    'as seen from this scope: its own memories and those of its ancestors (default: all)',
  );
  return addNarrowingOptions(command);
}

/** The same without the place from which memories are seen. */
export function addNarrowingOptions(command: Command): Command {
  return command
    .option('--in-scope <scope>', 'only what lies in this scope itself; "project:*": in every project')
    .option('--type <type>', 'only of this type; may be given several times', collect)
    .option('--not-type <type>', 'not of this type; may be given several times', collect)
    .option('--tag <tag>', 'only with this tag; given several times, with all of them', collect)
    .option(
      '--where <condition>',
      'only with this metadata: key=value, key>=3, key<3, or a key that is there; \'key="3"\' is the text; may be given several times',
      collectWhere,
    );
}

export function filtersOf({ scope, inScope, type, notType, tag, where }: FilterFlags): FilterOptions {
  return { scope, inScope, types: type, typesExclude: notType, tags: tag, metadata: where };
}
