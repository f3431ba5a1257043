import type { Command } from 'commander';
import { toolNameOf, VERB_NAMES, VERBS, type VerbName } from '../domain/verbs.ts';

/** The exports of a file in `commands/`. */
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

/** Commands that belong together in the help. */
export interface CommandGroup {
  readonly heading: string;
  readonly commands: readonly CommandEntry[];
}

type Load = CommandEntry['load'];

/** Returns the command of a verb, with its summary from the table of verbs. */
function verb(name: VerbName, load: Load): CommandEntry {
  return { name: commandNameOf(name), summary: VERBS[name].summary, load };
}

function command(name: string, summary: string, load: Load): CommandEntry {
  return { name, summary, load };
}

/** Returns a command that is generated from the table of verbs alone. */
function plain(name: VerbName): CommandEntry {
  return verb(name, async () => (await import('./plain-command.ts')).plainCommand(name));
}

function commandNameOf(name: VerbName): string {
  return toolNameOf(name).replaceAll('_', '-');
}

const sessionContext = () => import('./session-context-command.ts');

const GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Everyday commands:',
    commands: [
      verb('remember', () => import('./commands/remember.ts')),
      verb('recall', () => import('./commands/recall.ts')),
      verb('context', () => import('./commands/context.ts')),
      verb('update', () => import('./commands/update.ts')),
      verb('forget', () => import('./commands/forget.ts')),
    ],
  },
  {
    heading: 'Look at memories:',
    commands: [
      verb('get', () => import('./commands/get.ts')),
      verb('list', () => import('./commands/list.ts')),
      verb('history', () => import('./commands/history.ts')),
      verb('activity', () => import('./commands/activity.ts')),
      verb('timeline', () => import('./commands/timeline.ts')),
      verb('curve', () => import('./commands/curve.ts')),
      verb('beliefs', () => import('./commands/beliefs.ts')),
      verb('links', () => import('./commands/links.ts')),
      verb('entities', () => import('./commands/entities.ts')),
      verb('paths', () => import('./commands/paths.ts')),
      command('graph', 'draw an entity and its relations', () => import('./commands/graph.ts')),
      plain('neighbours'),
      verb('explain', () => import('./commands/explain.ts')),
      verb('whyNot', () => import('./commands/why-not.ts')),
      verb('compare', () => import('./commands/compare.ts')),
      verb('recalls', () => import('./commands/recalls.ts')),
      verb('replay', () => import('./commands/replay.ts')),
      verb('stats', () => import('./commands/stats.ts')),
    ],
  },
  {
    heading: 'Correct and rate:',
    commands: [
      verb('invalidate', () => import('./commands/invalidate.ts')),
      verb('reinstate', () => import('./commands/reinstate.ts')),
      verb('conflicts', () => import('./commands/conflicts.ts')),
      verb('resolve', () => import('./commands/resolve.ts')),
      verb('feedback', () => import('./commands/feedback.ts')),
      plain('setImportance'),
      verb('markUsed', () => import('./commands/mark-used.ts')),
      verb('link', () => import('./commands/link.ts')),
      verb('unlink', () => import('./commands/unlink.ts')),
      verb('relate', () => import('./commands/relate.ts')),
      verb('unrelate', () => import('./commands/unrelate.ts')),
      plain('mergeEntities'),
      plain('splitEntity'),
      verb('operations', () => import('./commands/operations.ts')),
      verb('undo', () => import('./commands/undo.ts')),
    ],
  },
  {
    heading: 'Conversations:',
    commands: [
      verb('observe', () => import('./commands/observe.ts')),
      command('session', 'start, summarize or end a session', () => import('./commands/session.ts')),
      verb('bootstrap', async () => (await sessionContext()).sessionContextCommand('bootstrap')),
      verb('pinned', async () => (await sessionContext()).sessionContextCommand('pinned')),
    ],
  },
  {
    heading: 'Maintain a store:',
    commands: [
      verb('maintain', () => import('./commands/maintain.ts')),
      verb('curate', () => import('./commands/curate.ts')),
      verb('configure', () => import('./commands/configure.ts')),
      command(
        'import',
        'import files: JSON Lines, Markdown, text, git history, exports of other products',
        () => import('./commands/import.ts'),
      ),
      command('export', 'export all memories as JSON Lines', () => import('./commands/export.ts')),
      verb('backup', () => import('./commands/backup.ts')),
      command('restore', 'bring a space back from a backup', () => import('./commands/restore.ts')),
      command(
        'copy',
        'copy spaces with everything in them to another store',
        () => import('./commands/copy.ts'),
      ),
      verb('reindex', () => import('./commands/reindex.ts')),
      command('spaces', 'list the spaces of a store, or delete one', () => import('./commands/spaces.ts')),
      command(
        'migrate',
        'bring the schema of a PostgreSQL store to this version',
        () => import('./commands/migrate.ts'),
      ),
      command(
        'erase',
        'rewrite the tables of a PostgreSQL store, without what was forgotten',
        () => import('./commands/erase.ts'),
      ),
      command('doctor', 'check the installation and the store', () => import('./commands/doctor.ts')),
    ],
  },
  {
    heading: 'Serve agents and programs:',
    commands: [
      command('mcp', 'start the MCP server over stdio', () => import('./commands/mcp.ts')),
      command('serve', 'start the HTTP server', () => import('./commands/serve.ts')),
      command(
        'inspect',
        'open a web page that shows memories and explains recalls',
        () => import('./commands/inspect.ts'),
      ),
      command(
        'token',
        'create, list and revoke tokens of the HTTP server',
        () => import('./commands/token.ts'),
      ),
    ],
  },
  {
    heading: 'Formulas and evaluation:',
    commands: [
      plain('strategies'),
      command('profiles', 'list, show and check scoring formulas', () => import('./commands/profiles.ts')),
      command(
        'score',
        'evaluate a formula on given signals, without a store',
        () => import('./commands/score.ts'),
      ),
      command('eval', 'measure retrieval quality on a dataset', () => import('./commands/eval.ts')),
      command('tune', 'fit the parameters of a formula to a dataset', () => import('./commands/tune.ts')),
      command(
        'eval-set',
        'make a dataset from recalls and what was used of them',
        () => import('./commands/eval-set.ts'),
      ),
      command(
        'simulate',
        'simulate how memories develop over a year, from a script',
        () => import('./commands/simulate.ts'),
      ),
    ],
  },
  {
    heading: 'Set up a terminal:',
    commands: [
      command(
        'completion',
        'print a script that completes commands and options in a shell',
        () => import('./commands/completion.ts'),
      ),
    ],
  },
];

/** Verbs that commands of other names perform: session, import, forget, doctor, tune. */
const elsewhere: readonly VerbName[] = [
  'startSession',
  'currentSession',
  'endSession',
  'saveSummary',
  'rememberMany',
  'importMemories',
  'forgetMany',
  'check',
  'fit',
  'health',
];

const listed = new Set(GROUPS.flatMap(({ commands }) => commands.map(({ name }) => name)));

/** All commands, in the order of the help. A verb without a command of its own gets a generated one. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  ...GROUPS,
  {
    heading: 'Other commands:',
    commands: VERB_NAMES.filter((name) => !elsewhere.includes(name) && !listed.has(commandNameOf(name))).map(
      plain,
    ),
  },
];
