import { access, constants } from 'node:fs/promises';
import type { Command } from 'commander';
import { SalienceError, type SalienceErrorCode, throwIfAborted } from '../../domain/errors.ts';
import { NO_EMBEDDER, vectorWarnings } from '../../engine/upkeep/health.ts';
import { openMemory, type SpaceInfo } from '../../index.ts';
import { chooseEmbedder } from '../../providers/choose.ts';
import { NOT_ERASED_YET } from '../../store/damage.ts';
import type { Store } from '../../store/store.ts';
import { describeUnfinished } from '../../stores/sqlite/copying.ts';
import { unwritableOf } from '../../stores/sqlite/faults.ts';
import { pathOf } from '../../stores/sqlite/files.ts';
import { describeStrays } from '../../stores/sqlite/strays.ts';
import { sqliteVersion } from '../../stores/sqlite/version.ts';
import { action, type Context } from '../context.ts';
import { FAILED } from '../failure.ts';
import { embedderOf, isShared, placeOf, storeOf } from '../open.ts';
import { createProgress, type Progress } from '../progress.ts';
import { formatFields, formatTable } from '../table.ts';
import { plainLine } from '../terminal-text.ts';
import { formatBytes, formatCount } from '../units.ts';
import { readVersion } from '../version.ts';

export const examples = ['salience doctor', 'salience doctor --json'] as const;

interface Report {
  readonly versions: {
    readonly salience: string;
    readonly node: string;
    readonly sqlite: string | undefined;
  };
  readonly embedder: EmbedderReport;
  readonly store: { readonly path: string; readonly state: 'writable' | 'read-only' | 'absent' | 'shared' };
  readonly spaces: readonly SpaceReport[];
  /** Worth knowing, with what to do about it. */
  readonly warnings: readonly string[];
  /** What does not work, with what to do about it. */
  readonly problems: readonly string[];
}

interface EmbedderReport {
  readonly name: string;
  readonly model?: string | undefined;
  readonly dimensions?: number | undefined;
}

interface SpaceReport {
  readonly name: string;
  readonly memories?: number | undefined;
  readonly vectors?: number | undefined;
  readonly model?: string | undefined;
  readonly bytes?: number | undefined;
  readonly schemaVersion?: number | undefined;
  readonly lastBackup?: string | undefined;
  readonly problems: readonly string[];
}

export function configure(command: Command): void {
  command
    .addHelpText('after', '\nEnds with 1 when something does not work. Warnings alone do not count.')
    .action(
      action<object, []>(async (context) => {
        const progress = createProgress('checking', process.stderr);
        const report = await examine(context, progress).finally(progress.finish);
        await (context.options.json ? context.printJson(report) : context.print(describe(report, context)));
        return report.problems.length > 0 ? FAILED : 0;
      }),
    );
}

async function examine(context: Context, progress: Progress): Promise<Report> {
  const path = placeOf(context.options);
  const place = isShared() ? path : `the store ${path}`;
  await using store = await storeOf(context.options);
  const warnings: string[] = [];
  const problems: string[] = [];
  /** Runs one check. Its failure becomes a problem, so that the other checks still run. */
  const attempt = async <Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      throwIfAborted(context.signal);
      return await work();
    } catch (error) {
      if (context.signal.aborted) throw error;
      problems.push(`${what}: ${SalienceError.isInstance(error) ? error.message : String(error)}`);
      return undefined;
    }
  };
  const sqlite = await attempt('the SQLite driver does not load', sqliteVersion);
  const embedder = (await attempt('the embedder', () => tryEmbedder(context))) ?? {
    name: context.options.embedder,
  };
  if (embedder.name === 'none') warnings.push(NO_EMBEDDER);
  const state = isShared() ? 'shared' : await stateOf(path);
  const files = await attempt(place, async () => ({
    names: await store.listSpaces(),
    strays: isShared() ? [] : await describeStrays(path),
    unfinished: isShared() ? [] : describeUnfinished(path),
  }));
  // If the store cannot be examined, a problem already says why.
  if (state === 'absent' && files)
    warnings.push(`there is no store at ${path} yet: remember something, or set --path`);
  if (state === 'read-only' && files)
    warnings.push(`${path} is read-only: recalls work, nothing can be remembered`);

  const { names = [], strays = [], unfinished = [] } = files ?? {};
  problems.push(...strays);
  warnings.push(...unfinished);
  // A database without a space may have no tables yet, and a look makes none.
  if (files && (state === 'writable' || (state === 'shared' && names.length > 0))) {
    const unready = await attempt(place, () => whyUnready(store));
    if (unready !== undefined) warnings.push(unready);
  }
  const spaces: SpaceReport[] = [];
  for (const name of names) {
    progress.update(undefined, names.length > 1 ? spaces.length / names.length : undefined);
    const space = await attempt(`space ${name}`, () => examineSpace(name, store, context));
    if (space && 'older' in space) {
      spaces.push({ name, schemaVersion: space.older, problems: [] });
      warnings.push(
        `space ${name}: has the older schema ${space.older}; the next command that uses the space brings it up to date, and older versions of salience can then no longer open it`,
      );
      continue;
    }
    spaces.push(space?.report ?? { name, problems: [] });
    problems.push(...(space?.report.problems ?? []).map((problem) => `space ${name}: ${problem}`));
    for (const file of state === 'writable' ? unwritableOf(pathOf(path, name)) : []) {
      warnings.push(
        `space ${name}: this user may not write to ${file}: recalls work, nothing can be remembered; check its permissions`,
      );
    }
    if (space?.isUnerased) warnings.push(`space ${name}: ${NOT_ERASED_YET}`);
    if (space && embedder.model !== undefined) warnings.push(...vectorWarnings(space.info, embedder.model));
  }
  return {
    versions: { salience: await readVersion(), node: process.versions.node, sqlite },
    embedder,
    store: { path, state },
    spaces,
    warnings,
    problems,
  };
}

/** Faults of a single file, which are found when its space is examined. */
const OF_ONE_FILE: ReadonlySet<SalienceErrorCode> = new Set(['newer_store', 'not_a_store', 'store_corrupt']);

/**
 * Throws the reason why nothing can be remembered, such as a full disk, which only a write reveals. Returns the message if the
 * store is read-only, which may be intended.
 */
async function whyUnready(store: Store): Promise<string | undefined> {
  try {
    await store.ready?.();
    return undefined;
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    if (OF_ONE_FILE.has(error.code)) return undefined;
    if (error.code === 'store_read_only') return error.message;
    throw error;
  }
}

/** Computes a vector too, because a server may be down. */
async function tryEmbedder(context: Context): Promise<EmbedderReport> {
  const name = context.options.embedder;
  const embedder = await chooseEmbedder(await embedderOf(context));
  if (!embedder) return { name };
  await embedder.embed(['the quick brown fox'], { signal: context.signal });
  return { name, model: embedder.model, dimensions: embedder.dimensions };
}

async function stateOf(path: string): Promise<Report['store']['state']> {
  const can = (mode: number) =>
    access(path, mode).then(
      () => true,
      () => false,
    );
  if (!(await can(constants.F_OK))) return 'absent';
  return (await can(constants.W_OK)) ? 'writable' : 'read-only';
}

type Examined =
  | { readonly report: SpaceReport; readonly info: SpaceInfo; readonly isUnerased: boolean }
  /** The version of an older schema, which cannot be examined without being changed. */
  | { readonly older: number };

async function examineSpace(
  name: string,
  store: Store,
  { signal }: Pick<Context, 'signal'>,
): Promise<Examined> {
  // Without an embedder there is no mismatch to report, and only the file itself is examined.
  const opening = openMemory({ store, space: name, embedder: 'none', readOnly: true });
  const opened = await opening.catch(olderSchema);
  if (typeof opened === 'number') return { older: opened };
  await using memory = opened;
  const info = await memory.stats({ signal });
  const { memories, vectors, embedding, bytes, schemaVersion, lastBackup } = info;
  const found = await memory.check({ signal });
  const problems = found.filter((finding) => finding !== NOT_ERASED_YET);
  const model = embedding?.model;
  const report = { name, memories, vectors, model, bytes, schemaVersion, lastBackup, problems };
  return { report, info, isUnerased: found.includes(NOT_ERASED_YET) };
}

/** The version of the schema if that is why a file cannot be opened to read; else throws the error. */
function olderSchema(error: unknown): number {
  if (SalienceError.isInstance(error) && error.code === 'store_read_only') {
    const { version } = error.details;
    if (typeof version === 'number') return version;
  }
  throw error;
}

function healthOf({ memories, schemaVersion, problems }: SpaceReport): string {
  if (problems.length > 0) return 'damaged';
  if (memories !== undefined) return 'good';
  return schemaVersion === undefined ? 'damaged' : 'older';
}

function describe(report: Report, { paint, columns }: Pick<Context, 'paint' | 'columns'>): string {
  const { versions, embedder, store, spaces, warnings, problems } = report;
  const model = embedder.model && `${embedder.model}, ${embedder.dimensions} dimensions`;
  const fields = formatFields([
    ['salience', versions.salience],
    ['node', versions.node],
    ['sqlite', versions.sqlite ?? 'missing'],
    ['embedder', model === undefined ? embedder.name : `${embedder.name} (${model})`],
    ['store', `${store.path} (${store.state})`],
  ]);
  // `health` comes first: a narrow terminal cuts the last columns.
  const titles = ['health', 'space', 'memories', 'vectors', 'size', 'schema', 'backup'];
  const table = formatTable(
    titles.map((title) => ({
      title,
      align: ['space', 'health', 'backup'].includes(title) ? 'left' : 'right',
    })),
    spaces.map((space) => [
      healthOf(space),
      space.name,
      space.memories === undefined ? '?' : formatCount(space.memories),
      space.vectors === undefined ? '?' : formatCount(space.vectors),
      space.bytes === undefined ? '?' : formatBytes(space.bytes),
      String(space.schemaVersion ?? '?'),
      space.lastBackup?.slice(0, 10) ?? 'never',
    ]),
    columns,
  );
  return [
    fields,
    ...(spaces.length > 0 ? ['', table] : []),
    '',
    ...problems.map((problem) => paint('red', `problem: ${plainLine(problem)}`)),
    ...warnings.map((warning) => paint('yellow', `warning: ${plainLine(warning)}`)),
    problems.length === 0 ? 'everything works' : `${problems.length} to mend`,
  ].join('\n');
}
