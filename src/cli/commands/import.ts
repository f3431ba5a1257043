import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { describe as quoted } from '../../domain/describe.ts';
import { SalienceError } from '../../domain/errors.ts';
import { checkedFields, NO_LIMITS } from '../../domain/field-checks.ts';
import { parseSpaceName } from '../../domain/space.ts';
import { inRun } from '../../domain/work.ts';
import {
  createImportLinks,
  IMPORT_FORMATS,
  type ImportCounts,
  type ImportFormat,
  type ImportSource,
  importItems,
  keeping,
  openSource,
  openSourcesByUser,
  withLinks,
  wrote,
} from '../../import/index.ts';
import { type Memory, type MemoryEngine, openMemory, openSpaces } from '../../index.ts';
import { copyForTrial, type Trial } from '../../trial.ts';
import { action, type Context } from '../context.ts';
import { PARTLY } from '../failure.ts';
import { formatMemory } from '../memory-text.ts';
import { open, openingOf } from '../open.ts';
import { collect } from '../options.ts';
import { createProgress } from '../progress.ts';
import { plainLine } from '../terminal-text.ts';
import { formatCount, plural } from '../units.ts';

interface Options {
  readonly format?: ImportFormat | undefined;
  readonly scope?: string | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly user?: string | undefined;
  readonly update?: boolean | undefined;
  readonly spacePerUser?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

interface Skipped {
  readonly where: string;
  readonly reason: string;
}

/** Read like any other file or pipe. */
const STDIN = '/dev/stdin';

/** Most places of skipped or kept memories in the JSON. */
const REMEMBERED = 1000;

export const examples = [
  'salience import notes',
  'salience import memories.jsonl --scope project:match',
  'salience import . --format git --tag history',
  'salience import conversations.json --format chatgpt --tag chats',
  'salience import mem0.json --user ann --space ann',
  'salience import team.json --space-per-user --dry-run',
] as const;

export function configure(command: Command): void {
  command
    .argument('<paths...>', 'files and folders; - is stdin')
    .addOption(
      new Option(
        '--format <format>',
        'format of the files (default: detected; in a folder, Markdown and text)',
      ).choices(IMPORT_FORMATS),
    )
    .option('--scope <scope>', 'the scope of memories that name none (default: global)')
    .option('--tag <tag>', 'added to every memory; repeatable', collect)
    .option('--user <user>', 'the user to import from a file of several users')
    .option('--space-per-user', 'import a file of several users, each user into the space of that name')
    .option('--update', 'replace stored memories even if those in the file are older')
    .option(
      '--dry-run',
      'only say what would be imported: imports into a copy of the space, and deletes the copy',
    )
    .action(
      action<Options, [readonly string[]]>(async (context, given) => {
        const paths = given.map((path) => (path === '-' ? STDIN : path));
        const { user, spacePerUser } = context.options;
        if (user !== undefined && spacePerUser) {
          throw new SalienceError('invalid_argument', '--user and --space-per-user exclude each other', {
            details: { field: 'user' },
          });
        }
        // Checked here, so that a wrong option is not reported as a problem of each record.
        const { scope, tag: tags } = context.options;
        checkedFields({ scope, tags }, ['scope', 'tags'], NO_LIMITS);
        const work = spacePerUser ? intoManySpaces(paths, context) : intoOneSpace(paths, context);
        const counts = await work.catch((error: unknown) => {
          throw SalienceError.isInstance(error) ? aboutStdin(error) : error;
        });
        return counts.skipped > 0 ? PARTLY : 0;
      }),
    );
}

/** Names stdin as users do, not by the path that it is read from. */
function aboutStdin(error: SalienceError): SalienceError {
  const { code, message, details } = error;
  return new SalienceError(code, message.replaceAll(STDIN, 'stdin'), { details, cause: error });
}

/** A source, and the memory that it is imported into. The memory is opened on first use. */
interface Import {
  readonly source: ImportSource;
  readonly memory: () => Promise<MemoryEngine>;
  /** The space of the memory. Links are collected per space. */
  readonly space: string;
}

async function intoOneSpace(paths: readonly string[], context: Context<Options>): Promise<ImportCounts> {
  const { options, signal } = context;
  let trial: Trial | undefined;
  const openSpace = async () => {
    if (!options.dryRun) return open(context);
    trial = await trialOf([options.space], context);
    return openMemory({ ...trial.opening, space: options.space });
  };
  // Opened on first use, so that an unreadable source creates no space.
  let opened: Promise<MemoryEngine> | undefined;
  const memory = () => {
    opened ??= openSpace();
    return opened;
  };
  const imports = async function* (): AsyncGenerator<Import, void> {
    for (const path of paths) {
      const source = await openSource(path, { ...options, tags: options.tag, signal });
      yield { source, memory, space: options.space };
    }
  };
  try {
    return await importAll(imports(), paths.length, context);
  } finally {
    await opened?.then(
      (memory) => memory.close(),
      () => undefined,
    );
    await trial?.[Symbol.asyncDispose]();
  }
}

/** Copies those of the spaces that exist, so that a dry run can import into the copies. */
async function trialOf(spaces: readonly string[], context: Context<Options>): Promise<Trial> {
  const opening = await openingOf(context);
  const progress = createProgress('copying', process.stderr);
  try {
    return await copyForTrial(opening, spaces, {
      signal: context.signal,
      progress: (done, total) => progress.update(done, total > 0 ? done / total : 1),
    });
  } finally {
    progress.finish();
    await opening.store?.close();
  }
}

/**
 * Returns the space for a user in a file. The names come from the file, so not every one is valid as the name of a
 * space.
 */
function spaceOfUser(user: string, above: string, path: string): string {
  try {
    return parseSpaceName(above === 'default' ? user : `${above}/${user}`);
  } catch (error) {
    if (!(error instanceof SalienceError)) throw error;
    throw new SalienceError(
      error.code,
      `${path}: no space can have the name of the user ${quoted(user)}: ${error.message}; rename the user in the file, or import one user at a time, with --user NAME --space SPACE`,
      { details: { ...error.details, user } },
    );
  }
}

async function intoManySpaces(paths: readonly string[], context: Context<Options>): Promise<ImportCounts> {
  const { options, signal } = context;
  const { space: above } = options;
  // All sources are read, and their names are checked, before anything is written.
  const imports: { source: ImportSource; space: string }[] = [];
  for (const path of paths) {
    for (const source of await openSourcesByUser(path, { ...options, tags: options.tag, signal })) {
      const { user = '' } = source;
      imports.push({ source, space: spaceOfUser(user, above, path) });
    }
  }
  const names = [...new Set(imports.map(({ space }) => space))];
  const trial = options.dryRun ? await trialOf(names, context) : undefined;
  const opening = trial?.opening ?? (await openingOf(context));
  try {
    await using spaces = openSpaces(opening);
    const each = imports.map((one) => ({ ...one, memory: () => spaces.get(one.space) }));
    const counts = await importAll(each, imports.length, context);
    if (!options.json)
      await context.print(
        `into ${plural(names.length, 'space', 'spaces')}: ${names.map(plainLine).join(', ')}`,
      );
    return counts;
  } finally {
    await opening.store?.close();
    await trial?.[Symbol.asyncDispose]();
  }
}

/** Imports the sources one after another. At the end, also after an interruption, reports what happened. */
function importAll(
  imports: AsyncIterable<Import> | Iterable<Import>,
  many: number,
  context: Context<Options>,
): Promise<ImportCounts> {
  const run = randomUUID();
  return inRun(run, () => importInRun(run, imports, many, context));
}

async function importInRun(
  run: string,
  imports: AsyncIterable<Import> | Iterable<Import>,
  many: number,
  context: Context<Options>,
): Promise<ImportCounts> {
  const { options, signal, warn, complain } = context;
  const skipped: Skipped[] = [];
  const kept: { where: string; id: string }[] = [];
  const leftOut = new Map<string, number>();
  const onLeftOut = (what: string) => void leftOut.set(what, (leftOut.get(what) ?? 0) + 1);
  const linksOf = new Map<
    string,
    { links: ReturnType<typeof createImportLinks>; memory: Import['memory'] }
  >();
  let progress = createProgress('importing', process.stderr);
  let finished = noCounts;
  let current = noCounts;
  let done = false;
  try {
    for await (const { source, memory, space } of imports) {
      const { links } = linksOf.get(space) ?? { links: createImportLinks() };
      linksOf.set(space, { links, memory });
      await importItems(memory, source.items, {
        signal,
        links,
        onLeftOut,
        update: options.update,
        isTrial: options.dryRun,
        onDiffers(where, id) {
          progress.finish();
          warn(`kept ${id} as it is: ${where} is different and not newer; --update takes it`);
          if (kept.length < REMEMBERED) kept.push({ where, id });
        },
        onProgress(counts) {
          current = counts;
          const { imported, updated, unchanged, skipped, differs = 0 } = sum(finished, counts);
          progress.update(
            imported + updated + unchanged + skipped + differs,
            many > 1 ? undefined : source.share(),
          );
        },
        onSkipped(place, reason) {
          const where = place.replace(STDIN, 'stdin');
          progress.finish();
          complain({ code: 'skipped', message: `skipped ${where}: ${reason}`, details: { where, reason } });
          if (skipped.length < REMEMBERED) skipped.push({ where, reason });
        },
      });
      finished = sum(finished, current);
      current = noCounts;
    }
    progress.finish();
    progress = createProgress('linking', process.stderr);
    for (const { links, memory } of linksOf.values()) {
      const items = finished;
      await links.write(memory, {
        signal,
        onLeftOut,
        onProgress({ counts, done, share }) {
          finished = withLinks(items, counts);
          progress.update(done, share);
        },
      });
    }
    done = true;
  } catch (error) {
    // Also if an earlier file was imported, or the links failed.
    throw keeping(error, sum(finished, current), options.dryRun);
  } finally {
    progress.finish();
    finished = sum(finished, current);
    // If the import failed before there is anything to report, the error says enough.
    if (done || Object.values(finished).some((count) => count > 0)) {
      const hasExample = options.dryRun && done && wrote(finished);
      const example = hasExample ? await exampleOf(run, linksOf.values()) : undefined;
      await (options.json
        ? context.printJson({
            ...(options.dryRun ? { dryRun: true, ...(example ? { example } : {}) } : {}),
            ...finished,
            leftOut: Object.fromEntries(leftOut),
            problems: skipped,
            kept,
            ...(wrote(finished) && !options.dryRun ? { run } : {}),
          })
        : context.print(
            `${options.dryRun ? 'dry run, nothing was changed: would have ' : ''}${describe(finished, leftOut)}`,
          ));
      if (example && !options.json) await context.print(`\nfor example:\n${formatMemory(example, context)}`);
    }
  }
  return finished;
}

/** Returns a memory that the run wrote, one of the first: it shows what becomes of the fields of a record. */
async function exampleOf(run: string, spaces: Iterable<Pick<Import, 'memory'>>): Promise<Memory | undefined> {
  for (const { memory } of spaces) {
    const engine = await memory();
    const operations = await engine.operations({ limit: 1000 });
    const written = operations.findLast((each) => each.run === run && each.memories > 0);
    if (written) return engine.get(written.ids[0]!);
  }
  return undefined;
}

const noCounts: ImportCounts = { imported: 0, updated: 0, unchanged: 0, skipped: 0 };

function sum(a: ImportCounts, b: ImportCounts): ImportCounts {
  return {
    imported: a.imported + b.imported,
    updated: a.updated + b.updated,
    unchanged: a.unchanged + b.unchanged,
    skipped: a.skipped + b.skipped,
    linked: (a.linked ?? 0) + (b.linked ?? 0),
    differs: (a.differs ?? 0) + (b.differs ?? 0),
  };
}

function describe(counts: ImportCounts, leftOut: ReadonlyMap<string, number>): string {
  const { imported, updated, unchanged, skipped, linked = 0, differs = 0 } = counts;
  const done = [
    `imported ${plural(imported, 'memory', 'memories')}`,
    ...(updated > 0 ? [`updated ${formatCount(updated)}`] : []),
    ...(unchanged > 0 ? [`${formatCount(unchanged)} already there`] : []),
    ...(differs > 0 ? [`kept ${formatCount(differs)} that differ from the file`] : []),
    ...(skipped > 0 ? [`skipped ${formatCount(skipped)}`] : []),
    ...(linked > 0 ? [`linked ${plural(linked, 'pair', 'pairs')}`] : []),
  ].join(', ');
  const lost = [...leftOut].map(([what, count]) => `${what} (${formatCount(count)})`);
  return lost.length === 0 ? done : `${done}; left out: ${lost.join(', ')}`;
}
