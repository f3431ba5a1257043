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
    summary: 'remember what a conversation is worth remembering for',
    load: () => import('./commands/observe.ts'),
  },
  {
    name: 'recall',
    summary: 'find what matters now, ranked and explained',
    load: () => import('./commands/recall.ts'),
  },
  {
    name: 'context',
    summary: 'make what to put before a model, within a budget of tokens',
    load: () => import('./commands/context.ts'),
  },
  { name: 'get', summary: 'show a memory', load: () => import('./commands/get.ts') },
  { name: 'list', summary: 'list memories, newest update first', load: () => import('./commands/list.ts') },
  { name: 'update', summary: 'change a memory', load: () => import('./commands/update.ts') },
  {
    name: 'invalidate',
    summary: 'say that a memory does not hold, and why',
    load: () => import('./commands/invalidate.ts'),
  },
  {
    name: 'revive',
    summary: 'say that an invalidated memory holds again',
    load: () => import('./commands/revive.ts'),
  },
  {
    name: 'conflicts',
    summary: 'list contradictions that wait for a decision',
    load: () => import('./commands/conflicts.ts'),
  },
  {
    name: 'resolve',
    summary: 'end a contradiction',
    load: () => import('./commands/resolve.ts'),
  },
  {
    name: 'feedback',
    summary: 'say whether a memory helped',
    load: () => import('./commands/feedback.ts'),
  },
  { name: 'forget', summary: 'erase a memory for good', load: () => import('./commands/forget.ts') },
  {
    name: 'undo',
    summary: 'take back the latest write, or a named one',
    load: () => import('./commands/undo.ts'),
  },
  {
    name: 'links',
    summary: 'show what a memory is associated with',
    load: () => import('./commands/links.ts'),
  },
  {
    name: 'link',
    summary: 'state that two memories belong together',
    load: () => import('./commands/link.ts'),
  },
  {
    name: 'unlink',
    summary: 'take links between two memories away',
    load: () => import('./commands/unlink.ts'),
  },
  {
    name: 'history',
    summary: 'show the writes of a memory and of those that it replaced',
    load: () => import('./commands/history.ts'),
  },
  {
    name: 'timeline',
    summary: 'show what was remembered just before and after a memory',
    load: () => import('./commands/timeline.ts'),
  },
  {
    name: 'beliefs',
    summary: 'show what was said about a topic, and what of it is believed',
    load: () => import('./commands/beliefs.ts'),
  },
  {
    name: 'session',
    summary: 'start a session, save a summary of it, end it',
    load: () => import('./commands/session.ts'),
  },
  { name: 'stats', summary: 'count what a space holds', load: () => import('./commands/stats.ts') },
  {
    name: 'explain',
    summary: 'show how the score of one memory comes about',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'why-not',
    summary: 'say why a memory is not recalled, and what would have to differ',
    load: () => import('./commands/why-not.ts'),
  },
  {
    name: 'mcp',
    summary: 'serve agents by the Model Context Protocol, over stdio',
    load: () => import('./commands/mcp.ts'),
  },
  {
    name: 'configure',
    summary: 'show or change how the memories of a space fade, and its time zone',
    load: () => import('./commands/configure.ts'),
  },
  {
    name: 'maintain',
    summary: 'run maintenance: decay, archive, expire, consolidate',
    load: () => import('./commands/maintain.ts'),
  },
  {
    name: 'curate',
    summary: 'tidy up: prune, merge duplicates, join, judge similar memories',
    load: () => import('./commands/curate.ts'),
  },
  {
    name: 'simulate',
    summary: "play a year of an agent's life from a script, and show how its memories develop",
    load: () => import('./commands/simulate.ts'),
  },
  {
    name: 'import',
    summary: 'remember files: JSON Lines, Markdown, text, git history',
    load: () => import('./commands/import.ts'),
  },
  { name: 'export', summary: 'write all memories as JSON Lines', load: () => import('./commands/export.ts') },
  { name: 'backup', summary: 'copy a space into a new file', load: () => import('./commands/backup.ts') },
  {
    name: 'reindex',
    summary: 'compute vectors and terms anew',
    load: () => import('./commands/reindex.ts'),
  },
  {
    name: 'doctor',
    summary: 'check what is installed and whether the store is healthy',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'spaces',
    summary: 'list the spaces of a store, or delete one',
    load: () => import('./commands/spaces.ts'),
  },
  {
    name: 'score',
    summary: 'compute a formula on given signals, without a store',
    load: () => import('./commands/score.ts'),
  },
  {
    name: 'profiles',
    summary: 'list, show and check scoring formulas',
    load: () => import('./commands/profiles.ts'),
  },
  {
    name: 'eval',
    summary: 'measure how well strategies answer a dataset',
    load: () => import('./commands/eval.ts'),
  },
  {
    name: 'serve',
    summary: 'answer over HTTP, behind tokens',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'token',
    summary: 'make, list and revoke the tokens of a server',
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
