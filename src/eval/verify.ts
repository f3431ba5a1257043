import { isDeepStrictEqual } from 'node:util';
import { isPlain, type KeyOf } from '../domain/options.ts';
import { redactPrivate } from '../domain/redaction.ts';
import { normalisedContent } from '../domain/statement.ts';
import { readLines, unreadableLine } from '../files/lines.ts';
import { measure } from '../fit/metrics.ts';
import { checkDatasets } from './checks.ts';
import type { Dataset, DatasetQuery } from './dataset.ts';
import { keptJudgements } from './judgements.ts';
import { type QueryOutcome, summarise } from './report.ts';
import { type AnswerRow, type EvaluationRow, hashOf, type RowsHeader, type SummaryRow } from './rows.ts';

/** A value in a file of rows that does not follow from the dataset and the other rows. */
export interface RowProblem {
  /** The line, from 1. */
  readonly line: number;
  readonly problem: string;
}

export interface RowsCheck {
  /** How many answers were checked. */
  readonly answers: number;
  /** Empty if every value follows from the datasets and the other rows. */
  readonly problems: readonly RowProblem[];
}

/**
 * Checks a file of rows in the format of `rowsOf`: recomputes every metric from the rows and the datasets, and every
 * summary from the rows. `datasets` are those of the evaluation, in the same order. Throws `unreadable_file` for a line
 * that is not a row.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 *
 * await using engine = await createEvaluationEngine({ embedder: 'none' });
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25'], embedder: 'none' }, engine);
 * const rows = [...rowsOf(runs, { datasets })].map((row) => `${JSON.stringify(row)}\n`);
 * await writeFile('./rows.jsonl', rows);
 * const { problems } = await verifyRows('./rows.jsonl', datasets);
 * for (const { line, problem } of problems) console.log(`line ${line}: ${problem}`);
 * ```
 */
export async function verifyRows(
  path: string,
  datasets: readonly Dataset[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<RowsCheck> {
  checkDatasets(datasets);
  const problems: RowProblem[] = [];
  const groups = new Map<string, Answered[]>();
  const known = datasets.map(indexOf);
  const summarised = new Set<string>();
  let header: RowsHeader | undefined;
  let embedder: string | undefined;
  let [answers, last] = [0, 0];
  for await (const { number, text } of readLines(path, options)) {
    if (text.trim() === '') continue;
    last = number;
    const report = (problem: string) => void problems.push({ line: number, problem });
    const row = parseRow(path, number, text);
    if (row.kind === 'evaluation') {
      header = row;
      embedder = undefined;
      summarised.clear();
      checkHeader(row, datasets, report);
    } else if (!header) {
      throw unreadableLine(
        path,
        number,
        'comes before the line of kind "evaluation", which must be the first',
      );
    } else if (row.kind === 'answer') {
      answers++;
      const outcome = checkAnswer(row, header, known[row.dataset]?.get(row.space), report);
      const key = JSON.stringify([row.dataset, row.strategy]);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ row, outcome });
    } else {
      const key = JSON.stringify([row.dataset, row.result.strategy]);
      embedder ??= row.result.embedder;
      checkSummary(row, header, { embedder, dataset: datasets[row.dataset] }, groups.get(key) ?? [], report);
      groups.delete(key);
      summarised.add(key);
    }
  }
  if (!header) throw unreadableLine(path, 1, 'is missing: the first line must be of kind "evaluation"');
  // Every strategy answers every dataset, so a file may also be cut off before one begins.
  const begun = [...summarised].map((key) => (JSON.parse(key) as [number, string])[1]);
  const strategies = [...new Set([...(header.strategies ?? []), ...begun])];
  for (const [at, { name }] of header.datasets.entries()) {
    for (const strategy of strategies.length === 0 && groups.size === 0 ? ['any'] : strategies) {
      const key = JSON.stringify([at, strategy]);
      if (summarised.has(key) || groups.has(key)) continue;
      const problem = `no answers and no summary of dataset ${at}, ${name}, strategy ${strategy}, are in the file; it was cut off`;
      problems.push({ line: last, problem });
    }
  }
  for (const key of groups.keys()) {
    const [dataset, strategy] = JSON.parse(key) as [number, string];
    problems.push({
      line: last,
      problem: `no summary of dataset ${dataset}, strategy ${strategy}, follows its answers`,
    });
  }
  return { answers, problems };
}

/** The contents of memories and the queries of a space, by id. */
interface KnownSpace {
  readonly contents: ReadonlyMap<string, string>;
  readonly queries: ReadonlyMap<string, DatasetQuery>;
}

function indexOf({ spaces }: Dataset): ReadonlyMap<string, KnownSpace> {
  return new Map(
    Array.from(spaces, ([name, { memories, queries }]) => [
      name,
      {
        contents: new Map(memories.map(({ id, content }) => [id, normalisedContent(redactPrivate(content))])),
        queries: new Map(queries.map((query) => [query.id, query])),
      },
    ]),
  );
}

interface Answered {
  readonly row: AnswerRow;
  readonly outcome: QueryOutcome;
}

type Report = (problem: string) => void;

function parseRow(path: string, number: number, text: string): EvaluationRow {
  let row: Partial<EvaluationRow> | null;
  try {
    row = JSON.parse(text) as Partial<EvaluationRow> | null;
  } catch (cause) {
    throw unreadableLine(path, number, `is not valid JSON: ${(cause as Error).message}`, cause);
  }
  const [, fields] = SHAPES.find(([kind]) => kind === row?.kind) ?? [];
  if (fields && hasFields(fields, row)) return row as EvaluationRow;
  throw unreadableLine(path, number, 'is not a row of an evaluation; "salience eval --rows" writes them');
}

type Check = (value: unknown) => boolean;
/** A check of every field of a row. */
type Fields<Row> = Readonly<Record<KeyOf<Row>, Check>>;

const isText: Check = (value) => typeof value === 'string';
const isPlace: Check = (value) => Number.isInteger(value);
const isList =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem);
const isOptional =
  (isValue: Check): Check =>
  (value) =>
    value === undefined || isValue(value);
const isTexts = isList(isText);
const isRecord: Check = (value) => isPlain(value);

const HEADER: Fields<RowsHeader> = {
  kind: isText,
  version: (value) => value === 1,
  about: isOptional(isRecord),
  ks: isList((value) => isPlace(value) && (value as number) >= 1),
  excludeTypes: isOptional(isTexts),
  datasets: isList((each) => hasFields({ name: isText, sha256: isText }, each)),
  strategies: isOptional(isTexts),
};

const ANSWER: Fields<AnswerRow> = {
  ...{ kind: isText, dataset: isPlace, strategy: isText, space: isText, id: isText, type: isText },
  hits: isList((each) => hasFields({ id: isText, score: Number.isFinite }, each)),
  below: isOptional(isTexts),
  evidence: isTexts,
  stale: isOptional(isTexts),
  mustNot: isOptional(isTexts),
  sameAs: isOptional((value) => isPlain(value) && isTexts(Object.values(value))),
  weight: isOptional(Number.isFinite),
  metrics: isRecord,
  ms: Number.isFinite,
  tokens: isOptional(Number.isFinite),
};

const SUMMARY: Fields<SummaryRow> = {
  ...{ kind: isText, dataset: isPlace },
  // The other fields of a result are compared with the values computed from the answers.
  result: (value) => hasFields({ dataset: isText, strategy: isText, embedder: isText }, value),
};

const SHAPES = Object.entries({ evaluation: HEADER, answer: ANSWER, summary: SUMMARY });

function hasFields(fields: Readonly<Record<string, Check>>, value: unknown): boolean {
  if (!isPlain(value)) return false;
  const held = value as { readonly [field: string]: unknown };
  return Object.entries(fields).every(([name, check]) => check(held[name]));
}

function checkHeader(header: RowsHeader, datasets: readonly Dataset[], report: Report): void {
  if (header.datasets.length !== datasets.length) {
    report(
      `is of ${header.datasets.length} datasets, and ${datasets.length} are given; name the same files in the same order`,
    );
  }
  header.datasets.forEach(({ name, sha256 }, at) => {
    const dataset = datasets[at];
    if (dataset && hashOf(dataset) !== sha256) {
      report(
        `was made with another version of ${name}: its memories or queries hash to ${sha256}, those of ${dataset.name} do not`,
      );
    }
  });
}

/** Reports the values of a row that do not follow from the dataset, and returns the outcome as the dataset has it. */
function checkAnswer(
  row: AnswerRow,
  { ks }: RowsHeader,
  space: KnownSpace | undefined,
  report: Report,
): QueryOutcome {
  const where = `${row.strategy}, question ${row.id} of ${row.space}`;
  const query = space?.queries.get(row.id);
  const hits = row.hits.map(({ id }) => id);
  const listed = [...hits, ...(row.below ?? [])];
  // An id that is ranked twice is reported, and counted once: metrics refuse such a ranking.
  const ranking = [...new Set(listed)];
  if (!space || !query) {
    report(`${where}: the dataset has no such question`);
    return { type: row.type, ranking, relevant: row.evidence, milliseconds: row.ms };
  }
  const { contents } = space;
  for (const [id, other] of Object.entries(row.sameAs ?? {})) {
    if (contents.get(id) !== undefined && contents.get(id) === contents.get(other)) continue;
    report(`${where}: counts memory ${id} as ${other}, which does not say the same`);
  }
  const unknown = ranking.find((id) => !contents.has(id));
  if (unknown !== undefined) report(`${where}: ranks the memory ${unknown}, which is not in its space`);
  if (ranking.length < listed.length) report(`${where}: ranks a memory twice`);
  if (row.hits.some(({ score }, at) => score > (row.hits[at - 1]?.score ?? Number.POSITIVE_INFINITY))) {
    report(`${where}: its scores rise`);
  }
  for (const name of ['type', 'weight'] as const) {
    if (row[name] === query[name]) continue;
    report(`${where}: is of ${name} ${row[name] ?? 'none'}; in the dataset it is ${query[name] ?? 'none'}`);
  }

  const outcome = outcomeOf(row, query, ranking);
  const lists = [
    ['evidence', row.evidence, outcome.relevant],
    ['stale', row.stale ?? [], outcome.stale ?? []],
    ['mustNot', row.mustNot ?? [], outcome.mustNot ?? []],
  ] as const;
  for (const [name, found, expected] of lists) {
    if (isDeepStrictEqual(found, expected)) continue;
    report(`${where}: ${name} is [${found.join(', ')}]; in the dataset it is [${expected.join(', ')}]`);
  }
  const metrics = outcome.relevant.length === 0 ? {} : measure(ranking, new Set(outcome.relevant), ks);
  for (const problem of differencesOf(row.metrics, metrics)) report(`${where}: ${problem}`);
  return outcome;
}

function outcomeOf(row: AnswerRow, query: DatasetQuery, ranking: readonly string[]): QueryOutcome {
  const sameAs = new Map(Object.entries(row.sameAs ?? {}));
  return {
    type: query.type,
    ranking,
    returned: row.hits.length,
    ...keptJudgements(query, sameAs),
    weight: query.weight,
    milliseconds: row.ms,
    tokens: row.tokens,
  };
}

function checkSummary(
  { dataset: place, result }: SummaryRow,
  { ks, excludeTypes, datasets }: RowsHeader,
  /** One evaluation has one embedder. */
  { embedder, dataset }: { readonly embedder: string; readonly dataset: Dataset | undefined },
  answers: readonly Answered[],
  report: Report,
): void {
  const where = `summary of ${result.dataset}, ${result.strategy}`;
  const keyOf = (space: string, id: string) => JSON.stringify([space, id]);
  const seen = new Set<string>();
  for (const { row } of answers) {
    const key = keyOf(row.space, row.id);
    if (seen.has(key)) report(`${where}: question ${row.id} of ${row.space} was answered twice`);
    seen.add(key);
  }
  for (const [space, { queries }] of dataset?.spaces ?? []) {
    const missing = queries.filter(({ id }) => !seen.has(keyOf(space, id)));
    if (missing.length === 0) continue;
    const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
    report(`${where}: no row answers question ${missing[0]?.id}${more} of ${space}`);
  }
  const name = datasets[place]?.name;
  if (name === undefined) {
    report(`${where}: the first line has no dataset ${place}`);
    return;
  }
  const outcomes = answers.map(({ outcome }) => outcome);
  const names = { dataset: name, strategy: result.strategy, embedder };
  const expected = summarise(outcomes, { ...names, ks, excludeTypes });
  for (const problem of differencesOf(valuesOf(result), valuesOf(expected))) report(`${where}: ${problem}`);
}

type Values = Readonly<Record<string, unknown>>;

function differencesOf(found: Values, expected: Values): readonly string[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  return names.flatMap((name) => {
    const [has, should] = [found[name], expected[name]];
    if (has === should) return [];
    return [`${name} is ${has ?? 'missing'}; recomputed it is ${should ?? 'none'}`];
  });
}

/** Returns the leaf values of a result by their paths. */
function valuesOf(value: object, path = ''): Values {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
      const at = path === '' ? name : `${path}.${name}`;
      return typeof part === 'object' && part !== null ? Object.entries(valuesOf(part, at)) : [[at, part]];
    }),
  );
}
