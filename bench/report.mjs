// Writes the latest measured tables from bench/results into docs/benchmarks.md, between their markers. With --check
// nothing is written, and the exit code says whether the page is current.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { peersTables } from './peers-table.mjs';
import { table } from './table.mjs';

const page = new URL('../docs/benchmarks.md', import.meta.url);

const BASELINES = ['bm25', 'vector'];

/** The tables, by the names of their markers. */
function tables() {
  const quality = read('quality');
  const ablations = read('ablations');
  return {
    strategies: strategies(quality),
    'kinds:locomo-dev': kinds(quality, 'locomo-dev'),
    'kinds:beam-dev': kinds(quality, 'beam-dev'),
    losses: losses(quality),
    ablations: ablation(ablations),
    'ablations:kinds': ablationKinds(ablations),
    entities: entities(read('entities')),
    dates: dates(ablations),
    worth: worth(read('worth')),
    peers: peersTables(read('peers')),
  };
}

function strategies({ command, machine, results }) {
  const sets = [...new Set(results.map(({ dataset }) => dataset))];
  const names = [...new Set(results.map(({ strategy }) => strategy))];
  const best = (of) => Math.max(...results.filter(of).map(({ metrics }) => metrics['recall@10']));
  return table(
    ['strategy', ...sets.map((set) => `${set} (${find(results, set, names[0]).n})`), 'newer above outdated'],
    names.map((name) => [
      `\`${name}\``,
      ...sets.map((set) => {
        const { metrics } = find(results, set, name);
        const isBest = metrics['recall@10'] === best(({ dataset }) => dataset === set);
        return isBest ? `**${both(metrics)}**` : both(metrics);
      }),
      updates(results, name),
    ]),
    `recall@10 / NDCG@10. ${source(command, machine)}`,
  );
}

function updates(results, name) {
  const { updatedAboveStale } = find(results, 'beam-dev', name);
  return `${updatedAboveStale.won} of ${updatedAboveStale.of}`;
}

function kinds({ command, results }, set) {
  const { byType } = find(results, set, 'hybrid');
  const shown = ['hybrid', ...BASELINES];
  return table(
    ['kind', 'questions', ...shown.map((name) => `\`${name}\``)],
    Object.keys(byType).map((kind) => [
      kind,
      String(byType[kind].n),
      ...shown.map((name) => both(find(results, set, name).byType[kind])),
    ]),
    `recall@10 / NDCG@10. \`${command}\``,
  );
}

/** Where hybrid is behind a baseline: differences are those of the baseline from hybrid. */
function losses({ command, differences }) {
  const lost = differences.filter(
    ({ strategy, difference }) => BASELINES.includes(strategy) && difference > 0.00005,
  );
  if (lost.length === 0) return 'Nowhere.';
  return table(
    ['dataset', 'kind', 'behind', 'metric', 'questions', 'by', '95 % interval', 'certain'],
    lost.map(({ dataset, type = 'all', strategy, metric, n, difference, interval, certain }) => [
      ...[dataset, type, `\`${strategy}\``, metric, String(n), difference.toFixed(3)],
      interval ? range(interval) : 'too few questions',
      certain ? '**yes**' : 'no',
    ]),
    `\`${command}\``,
  );
}

function ablation({ command, machine, results, differences }) {
  const variants = variantsOf(results);
  const difference = (set, name, metric, type) =>
    differences.find(
      (each) =>
        each.dataset === set && each.strategy === name && each.metric === metric && each.type === type,
    );
  const cell = (set, name, metric, type) => {
    const found = difference(set, name, metric, type);
    return `${signed(found.difference)}${found.certain ? ` ${range(found.interval)}` : ''}`;
  };
  const columns = [
    ['locomo-dev', 'recall@10'],
    ['locomo-dev', 'ndcg@10'],
    ['locomo-dev', 'recall@10', 'adversarial'],
    ['beam-dev', 'recall@10'],
    ['beam-dev', 'ndcg@10'],
  ];
  return table(
    ['hybrid', ...columns.map(([set, metric, type]) => `${set}${type ? ` ${type}` : ''}, ${metric}`)],
    [
      [
        'whole',
        ...columns.map(([set, metric, type]) => {
          const { metrics, byType } = find(results, set, 'hybrid');
          return (type ? byType[type] : metrics)[metric].toFixed(3);
        }),
      ],
      ...variants.map((name) => [name, ...columns.map(([set, ...rest]) => cell(set, name, ...rest))]),
    ],
    `An interval is shown where it excludes 0, over questions and over conversations. ${source(command, machine)}`,
  );
}

/** Kinds of questions that a part helps or harms for certain. */
function ablationKinds({ command, differences }) {
  const found = differences.filter(
    ({ type, certain, metric }) => type !== undefined && certain && metric === 'ndcg@10',
  );
  return table(
    ['dataset', 'kind', 'questions', 'hybrid', 'NDCG@10', '95 % interval'],
    found.map(({ dataset, type, n, strategy, difference, interval }) => [
      ...[dataset, type, String(n), strategy, signed(difference), range(interval)],
    ]),
    `\`${command}\``,
  );
}

/** Entities that are followed or not: in all, and in the kind whose evidence is in several places. */
function entities({ command, machine, entities, results, differences }) {
  const kinds = { 'locomo-dev': 'multi-hop', 'beam-dev': 'multi_session_reasoning' };
  const rows = results.filter(({ strategy }) => strategy !== 'hybrid');
  const cells = ({ dataset, strategy, together }, type) => {
    const without = results.find((each) => each.dataset === dataset && each.together === together);
    const { difference, n } = differences.find(
      (each) =>
        each.dataset === dataset &&
        each.strategy === strategy &&
        each.metric === 'recall@10' &&
        each.type === type,
    );
    const value = (type ? without.byType[type] : without.metrics)['recall@10'];
    return [type ?? 'all', String(n), value.toFixed(3), signed(difference)];
  };
  return table(
    ['dataset', 'entities', 'hybrid', 'kind', 'questions', 'recall@10 without', 'difference'],
    rows.flatMap((row) =>
      [undefined, kinds[row.dataset]].map((type) => [
        ...[row.dataset, String(entities[row.dataset]), row.strategy, ...cells(row, type)],
      ]),
    ),
    source(command, machine),
  );
}

function dates({ command, dates, results, differences }) {
  const sets = [...new Set(results.map(({ dataset }) => dataset))];
  const rows = ['without relative dates', 'without dates of the calendar', 'without dates'];
  const count = { 'without relative dates': 'relative', 'without dates of the calendar': 'calendar' };
  const cell = (set, name) =>
    ['recall@10', 'ndcg@10']
      .map((metric) => {
        const found = differences.find(
          (each) =>
            each.dataset === set &&
            each.strategy === name &&
            each.metric === metric &&
            each.type === undefined,
        );
        return `${signed(found.difference)} ${range(found.interval)}`;
      })
      .join(' / ');
  return table(
    ['hybrid', ...sets.map((set) => `${set}: questions that name such a date`), ...sets],
    rows.map((name) => [
      name,
      ...sets.map((set) => (count[name] ? String(dates[set][count[name]]) : '')),
      ...sets.map((set) => cell(set, name)),
    ]),
    `Recall@10 / NDCG@10 against the whole formula. \`${command}\``,
  );
}

/** The ways of packing that the page speaks of. */
const WAYS = [
  'plain top k',
  'score^6 tokens^0.75',
  'score^6 tokens^0.5',
  'score^6 tokens^0',
  'isotonic in score, fitted on the other set',
  'isotonic in match, fitted on the other set',
  'isotonic in score, fitted on this set',
];

function worth({ command, machine, results }) {
  const columns = Object.keys(results).flatMap((set) => ['1000', '2000'].map((budget) => [set, budget]));
  return table(
    ['counts for', ...columns.map(([set, budget]) => `${set} (${results[set].questions}), ${budget} tokens`)],
    WAYS.map((way) => [
      way,
      ...columns.map(([set, budget]) => {
        const { share, difference, low, high } = results[set].ways.find((each) => each.way === way)[budget];
        const isCertain = low > 0 || high < 0;
        return `${share.toFixed(3)}${isCertain ? ` (${difference > 0 ? '+' : ''}${signed(difference)})` : ''}`;
      }),
    ]),
    `In brackets: differences from score^6 tokens^0.75 whose interval over questions excludes 0. ${source(command, machine)}`,
  );
}

function variantsOf(results) {
  return [...new Set(results.map(({ strategy }) => strategy))].filter((name) => name !== 'hybrid');
}

function find(results, set, name) {
  const found = results.find(({ dataset, strategy }) => dataset === set && strategy === name);
  if (!found) throw new Error(`bench/results has no ${name} on ${set}: run the benchmark again`);
  return found;
}

function both(metrics) {
  return `${metrics['recall@10'].toFixed(3)} / ${metrics['ndcg@10'].toFixed(3)}`;
}

function range({ low, high }) {
  return `[${signed(low)}, ${signed(high)}]`;
}

function signed(value) {
  const text = Math.abs(value).toFixed(3);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

function source(command, { cpu, node }) {
  return `\`${command}\`, ${cpu}, Node ${node}.`;
}

function read(name) {
  return JSON.parse(readFileSync(new URL(`./results/${name}.json`, import.meta.url), 'utf8'));
}

/** The page with every table as it was measured last. */
function current(text) {
  return Object.entries(tables()).reduce((page, [name, block]) => {
    const [start, end] = [`<!-- measured:${name} -->`, `<!-- /measured:${name} -->`];
    const [from, to] = [page.indexOf(start), page.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`docs/benchmarks.md lacks the markers ${start} and ${end}`);
    return `${page.slice(0, from)}${start}\n${block}\n${page.slice(to)}`;
  }, text);
}

export function updateBenchmarks() {
  writeFileSync(page, current(readFileSync(page, 'utf8')));
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const text = readFileSync(page, 'utf8');
    if (current(text) !== text) {
      console.error('docs/benchmarks.md is not what bench/results says: run ./run bench tables');
      process.exitCode = 1;
    }
  } else updateBenchmarks();
}
