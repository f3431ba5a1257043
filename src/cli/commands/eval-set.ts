import { type Command, Option } from 'commander';
import { unknownStrategy } from '../../domain/options.ts';
import { normalisedContent } from '../../domain/statement.ts';
import { parseInstant } from '../../domain/time.ts';
import { liveMemories } from '../../engine/belief/live-memories.ts';
import { searchableText } from '../../engine/write/record.ts';
import { effectiveEvents } from '../../engine/write/undo.ts';
import { type AskedQuestion, type PositiveUse, questionsFromUse } from '../../eval/index.ts';
import { readLines, unreadableLine } from '../../files/lines.ts';
import type { Memory, MemoryEngine } from '../../index.ts';
import { defineProfile } from '../../scoring/index.ts';
import { BUILTIN_PROFILE_NAMES } from '../../scoring/profiles/index.ts';
import { action } from '../context.ts';
import { openToRead } from '../open.ts';
import { parseNumber } from '../options.ts';
import { checkNotThere, checkOutputs, writeFileAtomically } from '../output-file.ts';
import { isProfileFile, readDefinition } from '../profile-file.ts';
import { plainLine } from '../terminal-text.ts';
import { plural } from '../units.ts';

interface Options {
  readonly recalls: string;
  readonly output: string;
  readonly strategy: string;
  readonly minutes: number;
  readonly force?: boolean | undefined;
}

export const examples = ['salience eval-set --recalls recalls.jsonl --output mine.jsonl'] as const;

export function configure(command: Command): void {
  command
    .addOption(
      new Option(
        '--recalls <file>',
        'recorded recalls and uses as JSON Lines, as described in docs/guides/evaluation.md',
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--output <file>',
        'write the dataset to this file, completely or not at all',
      ).makeOptionMandatory(),
    )
    .option(
      '--strategy <name>',
      'strategy, or JSON file of a profile, to be measured with the dataset',
      'hybrid',
    )
    .option(
      '--minutes <number>',
      'the longest time between a recall and a use that belongs to it',
      parseNumber,
      30,
    )
    .option('--force', 'replace the file if it exists')
    .addHelpText(
      'after',
      '\nVotes for memories are read from the space too. The file contains the memories and queries of the space: keep it as private.',
    )
    .action(
      action<Options, []>(async (context) => {
        const { options } = context;
        const inputs = [options.recalls, ...[options.strategy].filter(isProfileFile)];
        await checkOutputs({ '--output': options.output }, inputs);
        if (!options.force) await checkNotThere(options.output);
        const { recalls, uses } = await readRecorded(options.recalls, context.signal);
        const strategy = await measuredStrategy(options.strategy, recalls);
        await using memory = await openToRead(context);
        const all = await allMemories(memory);
        const votes = await votesFor(memory, all);
        const memories = liveMemories(all, context.now);
        const memoriesLeftOut = all.length - memories.length;
        const set = questionsFromUse({
          ...{ recalls, strategy, minutes: options.minutes },
          uses: [...uses, ...votes],
          memories: new Set(memories.map(({ id }) => id)),
        });
        const { queries, dropped, unexplained } = set;
        if (queries.length > 0) {
          const space = options.space;
          await writeFileAtomically(options.output, { replace: options.force === true }, async (write) => {
            for (const each of memories) {
              await write(`${JSON.stringify({ kind: 'memory', space, ...memoryLine(each) })}\n`);
            }
            for (const { now, ...query } of queries) {
              const line = { kind: 'query', space, ...query, now: new Date(now).toISOString() };
              await write(`${JSON.stringify(line)}\n`);
            }
          });
        }
        const counts = { recalls: recalls.length, uses: uses.length + votes.length, queries: queries.length };
        if (options.json) {
          const file = queries.length > 0 ? options.output : undefined;
          await context.printJson({ file, ...counts, dropped, unexplained, memoriesLeftOut });
        } else {
          await context.print(
            `${plural(counts.recalls, 'recall', 'recalls')} and ${plural(counts.uses, 'use', 'uses')} give ${plural(counts.queries, 'question', 'questions')}`,
          );
          for (const [reason, count] of Object.entries(dropped)) {
            if (count > 0)
              await context.print(`  left out ${count}: ${REASONS[reason as keyof typeof REASONS]}`);
          }
          if (unexplained > 0) {
            await context.print(`  no recall explains ${plural(unexplained, 'use', 'uses')}`);
          }
          if (memoriesLeftOut > 0) {
            await context.print(
              `  left out ${plural(memoriesLeftOut, 'memory', 'memories')} of the space: no recall returns what is replaced, no longer true, or a stub`,
            );
          }
          if (queries.length > 0) await context.print(`wrote ${plainLine(options.output)}`);
        }
        if (queries.length > 0) return 0;
        context.warn('nothing was written: no recall became a question');
        return 1;
      }),
    );
}

const REASONS = {
  'query-not-recorded': 'only the hash of the query was kept; record the texts of queries too',
  'nothing-used': 'none of the recalled memories was used, so there is no known right answer',
  'memory-gone': 'the memory that was used no longer exists, or no recall returns it any more',
  'first-of-strategy': 'the strategy itself had put first what was used',
  'asked-again': 'the query was asked before; what was used counts for that question',
} as const;

/**
 * Returns the name of a strategy. Throws for one that is neither built in nor has ranked any of the recalls, because no
 * questions would be left out for it.
 */
async function measuredStrategy(given: string, recalls: readonly AskedQuestion[]): Promise<string> {
  if (isProfileFile(given)) return defineProfile(await readDefinition(given)).name;
  const known = [...new Set([...BUILTIN_PROFILE_NAMES, ...recalls.map(({ strategy }) => strategy)])];
  if (!known.includes(given)) throw unknownStrategy(given, known);
  return given;
}

interface Recorded {
  readonly recalls: readonly AskedQuestion[];
  readonly uses: readonly PositiveUse[];
}

/** Reads the lines of kind `recall` and `use`. Throws `unreadable_file` at a line that is neither; `aborted`. */
async function readRecorded(path: string, signal: AbortSignal): Promise<Recorded> {
  const recalls: AskedQuestion[] = [];
  const uses: PositiveUse[] = [];
  for await (const { number, text } of readLines(path, { signal })) {
    if (text.trim() === '') continue;
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch (cause) {
      throw unreadableLine(path, number, `is not valid JSON: ${(cause as Error).message}`, cause);
    }
    if (isRecall(line)) {
      if (line.query?.isWellFormed() === false)
        throw unreadableLine(path, number, 'is wrong in "query": holds half of a surrogate pair');
      recalls.push(line);
    } else if (isUse(line)) uses.push(line);
    else {
      throw unreadableLine(
        path,
        number,
        'is neither {"kind":"recall","at","strategy","query","hits":[{"id"}]} nor {"kind":"use","at","ids"}, each with a text as "sessionId" or none',
      );
    }
  }
  return { recalls, uses };
}

type Loose<Line> = Partial<Record<keyof Line | 'kind', unknown>> | null;

function isRecall(line: unknown): line is AskedQuestion {
  const recall = line as Loose<AskedQuestion>;
  return (
    recall?.kind === 'recall' &&
    isTime(recall.at) &&
    (recall.now === undefined || isTime(recall.now)) &&
    typeof recall.strategy === 'string' &&
    isTextOrAbsent(recall.query) &&
    isTextOrAbsent(recall.sessionId) &&
    Array.isArray(recall.hits) &&
    recall.hits.every((hit) => typeof hit?.id === 'string')
  );
}

function isUse(line: unknown): line is PositiveUse {
  const use = line as Loose<PositiveUse>;
  return (
    use?.kind === 'use' &&
    isTime(use.at) &&
    isTextOrAbsent(use.sessionId) &&
    Array.isArray(use.ids) &&
    use.ids.every((id) => typeof id === 'string')
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isTime(value: unknown): boolean {
  try {
    parseInstant(value as string);
    return true;
  } catch {
    return false;
  }
}

async function allMemories(memory: MemoryEngine): Promise<readonly Memory[]> {
  const all: Memory[] = [];
  let cursor: string | undefined;
  do {
    const page = await memory.list({ limit: 1000, sort: 'inserted', cursor });
    all.push(...page.memories);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

/**
 * Returns the votes that raised the usefulness of memories, from their histories. Only votes that were not undone, and
 * that were cast on the current text, count: that another text helped is no evidence for this one.
 */
async function votesFor(memory: MemoryEngine, memories: readonly Memory[]): Promise<readonly PositiveUse[]> {
  const uses: PositiveUse[] = [];
  for (const { id, content, usefulness, votes = [] } of memories) {
    if (votes.length === 0) continue;
    const history = (await memory.history(id)).filter((event) => event.memoryId === id);
    // Events of links contain no earlier version of the memory.
    const changes = effectiveEvents(history).flatMap(({ verb, at, before }) =>
      before ? [{ verb, at, before }] : [],
    );
    const said = normalisedContent(content);
    const changed = changes.findLastIndex(
      // A stub has lost text but states nothing else, so it does not count as a change.
      ({ before }) => before.tier !== 'stub' && normalisedContent(before.content) !== said,
    );
    changes.forEach(({ verb, at, before }, place) => {
      if (verb !== 'feedback' || place <= changed) return;
      const after = changes[place + 1]?.before.usefulness ?? usefulness;
      if (after > before.usefulness) uses.push({ at, ids: [id] });
    });
  }
  return uses;
}

function memoryLine(memory: Memory) {
  const { id, createdAt, bornIn, type, role, author } = memory;
  return {
    id,
    // A dataset has no titles and tags, so their words become part of the content.
    content: searchableText(memory),
    createdAt,
    ...(bornIn !== undefined && { session: bornIn }),
    type,
    ...(role !== undefined && { role }),
    ...(author !== undefined && { author }),
  };
}
