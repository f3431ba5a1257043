import { invalidArgument, list } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import type { Dataset, DatasetQuery, DatasetSpace } from './dataset.ts';
import type { EvaluationEngine, EvaluationRun } from './run.ts';

type Kind = 'text' | 'instant' | 'list';

const memoryFields = { id: 'text', content: 'text', createdAt: 'instant' } as const;
const queryFields = {
  id: 'text',
  query: 'text',
  now: 'instant',
  type: 'text',
  relevant: 'list',
  stale: 'list',
} as const;

/** Throws `invalid_argument` unless all are datasets, from files or made by hand. Checks every field that is used. */
export function checkDatasets(value: readonly Dataset[]): void {
  for (const [at, dataset] of list(value, 'datasets').entries()) checkDataset(dataset, `datasets[${at}]`);
}

function checkDataset(value: unknown, field: string): void {
  const { name, spaces } = (value ?? {}) as Partial<Dataset>;
  if (typeof name !== 'string' || !(spaces instanceof Map)) {
    throw invalidArgument(
      field,
      `${describe(value)} must be a dataset: its name, and a Map of its spaces by name; readDataset reads one from a file`,
    );
  }
  for (const [space, held] of spaces as ReadonlyMap<string, DatasetSpace | undefined>) {
    const place = `${field}.spaces[${JSON.stringify(space)}]`;
    eachOf(held?.memories, `${place}.memories`, memoryFields);
    eachOf(held?.queries, `${place}.queries`, queryFields);
    const { memories, queries } = held as DatasetSpace;
    const ids = new Set(memories.map(({ id }) => id));
    for (const [at, query] of queries.entries()) checkJudged(query, ids, `${place}.queries[${at}]`);
  }
}

/** Throws `invalid_argument` for judgements and weights that would otherwise only show as wrong means at the end. */
function checkJudged(query: DatasetQuery, ids: ReadonlySet<string>, place: string): void {
  const { relevant, stale, mustNot = [], weight = 1 } = query;
  if (!(Number.isFinite(weight) && weight > 0)) {
    throw invalidArgument(`${place}.weight`, `${describe(weight)} must be a number above 0`);
  }
  for (const [name, judged] of Object.entries({ relevant, stale, mustNot })) {
    const unknown = list(judged, `${place}.${name}`).findIndex((id) => !ids.has(id));
    if (unknown < 0) continue;
    throw invalidArgument(
      `${place}.${name}`,
      `${describe(judged[unknown])} is the id of no memory of the space`,
    );
  }
}

function eachOf(items: unknown, field: string, fields: Readonly<Record<string, Kind>>): void {
  for (const [at, item] of list(items as readonly unknown[], field).entries()) {
    for (const [name, kind] of Object.entries(fields)) {
      const value = (item as Readonly<Record<string, unknown>> | null | undefined)?.[name];
      checkField(value, `${field}[${at}].${name}`, kind);
    }
  }
}

function checkField(value: unknown, field: string, kind: Kind): void {
  if (kind === 'list') list(value as readonly unknown[], field);
  else if (kind === 'text' && typeof value !== 'string') {
    throw invalidArgument(field, `expected a string, not ${describe(value)}`);
  } else if (kind === 'instant' && !Number.isFinite(value)) {
    throw invalidArgument(field, `${describe(value)} must be milliseconds since 1970; Date.parse gives them`);
  }
}

/** Throws `invalid_argument` unless the engine has an `open` method. */
export function checkEngine(engine: EvaluationEngine): void {
  if (typeof engine?.open === 'function') return;
  throw invalidArgument('engine', `${describe(engine)} must be what createEvaluationEngine returns`);
}

/** Throws `invalid_argument` unless all are runs as `evaluate` returns them. */
export function checkRuns(runs: readonly EvaluationRun[]): void {
  for (const [at, run] of list(runs, 'runs').entries()) {
    if (typeof run?.result === 'object' && Array.isArray(run.outcomes) && Array.isArray(run.ks)) continue;
    throw invalidArgument(`runs[${at}]`, `${describe(run)} must be a run, as evaluate returns them`);
  }
}
