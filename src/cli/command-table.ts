import type { Command } from 'commander';

/** What a file in `commands/` exports. */
export interface CommandModule {
  /** Adds the arguments, options and action. */
  readonly configure: (command: Command) => void;
  /** Command lines that run as they stand, shown by `--help`. */
  readonly examples: readonly string[];
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'remember',
    summary: 'remember one statement',
    load: () => import('./commands/remember.ts'),
  },
  {
    name: 'observe',
    summary: 'extract memories from a conversation',
    load: () => import('./commands/observe.ts'),
  },
  {
    name: 'recall',
    summary: 'find what matters now, ranked and explained',
    load: () => import('./commands/recall.ts'),
  },
  {
    name: 'context',
    summary: 'build a prompt context within a token budget',
    load: () => import('./commands/context.ts'),
  },
  { name: 'get', summary: 'show a memory', load: () => import('./commands/get.ts') },
  { name: 'list', summary: 'list memories, newest update first', load: () => import('./commands/list.ts') },
  { name: 'update', summary: 'change a memory', load: () => import('./commands/update.ts') },
  {
    name: 'invalidate',
    summary: 'mark a memory as no longer true',
    load: () => import('./commands/invalidate.ts'),
  },
  {
    name: 'revive',
    summary: 'reinstate an invalidated memory',
    load: () => import('./commands/revive.ts'),
  },
  {
    name: 'conflicts',
    summary: 'list open contradictions',
    load: () => import('./commands/conflicts.ts'),
  },
  {
    name: 'resolve',
    summary: 'resolve a contradiction',
    load: () => import('./commands/resolve.ts'),
  },
  {
    name: 'feedback',
    summary: 'rate whether a memory helped',
    load: () => import('./commands/feedback.ts'),
  },
  { name: 'forget', summary: 'erase a memory for good', load: () => import('./commands/forget.ts') },
  {
    name: 'undo',
    summary: 'undo the latest write, or a named one',
    load: () => import('./commands/undo.ts'),
  },
  {
    name: 'links',
    summary: 'show the links of a memory',
    load: () => import('./commands/links.ts'),
  },
  {
    name: 'link',
    summary: 'link two memories',
    load: () => import('./commands/link.ts'),
  },
  {
    name: 'unlink',
    summary: 'remove links',
    load: () => import('./commands/unlink.ts'),
  },
  {
    name: 'history',
    summary: 'show every version of a memory and of those that it replaced',
    load: () => import('./commands/history.ts'),
  },
  {
    name: 'timeline',
    summary: 'show what was remembered before and after a memory',
    load: () => import('./commands/timeline.ts'),
  },
  {
    name: 'beliefs',
    summary: 'show what is and was believed about a topic',
    load: () => import('./commands/beliefs.ts'),
  },
  {
    name: 'session',
    summary: 'start, summarize or end a session',
    load: () => import('./commands/session.ts'),
  },
  { name: 'stats', summary: 'show statistics of a space', load: () => import('./commands/stats.ts') },
  {
    name: 'explain',
    summary: 'explain the score of one memory',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'why-not',
    summary: 'explain why a memory is not recalled',
    load: () => import('./commands/why-not.ts'),
  },
  {
    name: 'mcp',
    summary: 'start the MCP server over stdio',
    load: () => import('./commands/mcp.ts'),
  },
  {
    name: 'configure',
    summary: 'show or change the settings of a space: fading, time zone',
    load: () => import('./commands/configure.ts'),
  },
  {
    name: 'maintain',
    summary: 'run maintenance: decay, archive, expire, consolidate',
    load: () => import('./commands/maintain.ts'),
  },
  {
    name: 'curate',
    summary: 'clean up: prune, merge duplicates, consolidate, judge similar memories',
    load: () => import('./commands/curate.ts'),
  },
  {
    name: 'simulate',
    summary: 'simulate how memories develop over a year, from a script',
    load: () => import('./commands/simulate.ts'),
  },
  {
    name: 'import',
    summary: 'import files: JSON Lines, Markdown, text, git history, exports of other products',
    load: () => import('./commands/import.ts'),
  },
  {
    name: 'export',
    summary: 'export all memories as JSON Lines',
    load: () => import('./commands/export.ts'),
  },
  { name: 'backup', summary: 'copy a space into a new file', load: () => import('./commands/backup.ts') },
  {
    name: 'reindex',
    summary: 'recompute vectors and terms',
    load: () => import('./commands/reindex.ts'),
  },
  {
    name: 'doctor',
    summary: 'check the installation and the store',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'spaces',
    summary: 'list the spaces of a store, or delete one',
    load: () => import('./commands/spaces.ts'),
  },
  {
    name: 'score',
    summary: 'evaluate a formula on given signals, without a store',
    load: () => import('./commands/score.ts'),
  },
  {
    name: 'profiles',
    summary: 'list, show and check scoring formulas',
    load: () => import('./commands/profiles.ts'),
  },
  {
    name: 'eval',
    summary: 'measure retrieval quality on a dataset',
    load: () => import('./commands/eval.ts'),
  },
  {
    name: 'serve',
    summary: 'start the HTTP server',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'token',
    summary: 'create, list and revoke tokens of the HTTP server',
    load: () => import('./commands/token.ts'),
  },
];

/** The common options that are followed by a value. */
const withValue: ReadonlySet<string> = new Set([
  '--path',
  '--space',
  '--embedder',
  '--base-url',
  '--model',
  '--model-url',
  '--now',
]);

/** The name of the command in the arguments: the first that is no option, nor an option's value. */
export function findCommandName(args: readonly string[]): string | undefined {
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] as string;
    if (argument === 'help') continue;
    if (!argument.startsWith('-')) return argument;
    if (withValue.has(argument)) index++;
  }
  return undefined;
}
