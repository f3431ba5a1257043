// ./run bench [NAME…] [--size N]: runs the named benchmarks, or all except those in ONLY_NAMED. Results go to
// bench/results, one file per benchmark, and from there into docs/measured.md and docs/benchmarks.md. `tables` only
// does the latter.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine } from './measure.mjs';
import { updateMeasured } from './measured.mjs';
import { updateBenchmarks } from './report.mjs';

const NAMES = [
  'speed',
  'start',
  'living',
  'beside',
  'memory',
  'spaces',
  'postgres',
  'mcp',
  'http',
  'inspector',
  'language',
  'packing',
  'context',
  'quality',
  'floor',
  'ablations',
  'worth',
  'entities',
  'graph',
  'extraction',
  'grid',
  'use-lite',
  'scale',
  'peers',
  'tables',
];
const { values: options, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    size: { type: 'string' },
    stores: { type: 'string' },
    sizes: { type: 'string' },
    limit: { type: 'string' },
    total: { type: 'string' },
  },
});
if (options.help) {
  console.log(`Usage: ./run bench [NAME…] [options]

Without a name, the quick ones run. Available: ${NAMES.join(', ')}

  --size N          memories: speed, inspector, postgres
  --stores A,B      stores: scale, as 100000x256, with :equal or :near for near-duplicates
  --sizes A,B       memories: peers
  --limit SECONDS   time for one peer to store them: peers
  --total SECONDS   time for all peers: peers`);
  process.exit();
}
const unknown = chosen.find((name) => !NAMES.includes(name));
if (unknown)
  throw new Error(
    `unknown benchmark "${unknown}" (available: ${NAMES.join(', ')}; without a name, the quick ones run)`,
  );
// These take many minutes and change only with the embedder or a formula, or need packages of their own: they are run when
// named.
const ONLY_NAMED = [
  'inspector',
  'grid',
  'use-lite',
  'ablations',
  'entities',
  'worth',
  'scale',
  'peers',
  'postgres',
];
for (const name of ['size', 'limit', 'total']) {
  const value = options[name];
  if (value !== undefined && !(Number(value) > 0))
    throw new Error(`--${name} ${value}: write a number above 0`);
}
const size = options.size && Number(options.size);
const wanted = (name) => chosen.includes(name) || (chosen.length === 0 && !ONLY_NAMED.includes(name));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const log = (name, values) => console.log(`${name.padEnd(28)} ${JSON.stringify(values)}`);

if (wanted('speed')) {
  const { benchSize } = await import('./speed.mjs');
  const results = [];
  for (const each of size ? [size] : [10_000, 100_000]) {
    console.log(`\n${each.toLocaleString('en')} memories`);
    results.push(await benchSize(each, log));
  }
  save('speed', { command: './run bench speed', results });
}
if (wanted('start')) {
  const { benchStart } = await import('./start.mjs');
  save('start', { command: './run bench start', results: await benchStart(log) });
}
if (wanted('beside')) {
  const { benchBeside } = await import('./beside.mjs');
  save('beside', { command: './run bench beside', results: await benchBeside([10_000, 100_000], log) });
}
if (wanted('living')) {
  const { benchLiving } = await import('./living.mjs');
  save('living', { command: './run bench living', results: await benchLiving(log) });
}
if (wanted('memory')) {
  const script = fileURLToPath(new URL('./memory.mjs', import.meta.url));
  const result = spawnSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stderr);
  const values = JSON.parse(result.stdout);
  log('memory', values);
  save('memory', { command: './run bench memory', results: values });
}
if (wanted('spaces')) {
  const { benchSpaces } = await import('./spaces.mjs');
  save('spaces', { command: './run bench spaces', results: await benchSpaces(log) });
}
if (wanted('postgres')) {
  const { benchPostgres } = await import('./postgres.mjs');
  // A small size is a trial run: it runs everything, but its results are not kept.
  const small = size !== undefined && size < 100_000;
  const results = await benchPostgres(small ? { size, spaces: 120, kills: 2 } : { size }, log);
  if (!small) save('postgres', { command: './run bench postgres', results });
}
if (wanted('graph')) {
  const { benchGraph } = await import('./graph.mjs');
  save('graph', { command: './run bench graph', results: await benchGraph({}, log) });
}
if (wanted('extraction')) {
  const { benchExtraction } = await import('./extraction.mjs');
  save('extraction', { command: './run bench extraction', results: await benchExtraction({}, log) });
}
if (wanted('mcp')) {
  const { benchMcp } = await import('./mcp.mjs');
  save('mcp', { command: './run bench mcp', results: await benchMcp(log) });
}
if (wanted('inspector')) {
  const { benchInspector } = await import('./inspector.mjs');
  const results = [await benchInspector(size ?? 10_000, log)];
  save('inspector', { command: './run bench inspector', results });
}
if (wanted('language')) {
  const { benchLanguage } = await import('./language.mjs');
  save('language', { command: './run bench language', results: await benchLanguage(log) });
}
if (wanted('http')) {
  const { benchHttp } = await import('./http.mjs');
  save('http', { command: './run bench http', results: await benchHttp(log) });
}
if (wanted('packing')) {
  const { benchPacking } = await import('./packing.mjs');
  save('packing', { command: './run bench packing', results: await benchPacking(log) });
}
if (wanted('context')) {
  const directory = process.env.SALIENCE_DATA;
  if (directory) {
    const { benchContext } = await import('./context.mjs');
    save('context', {
      command: 'SALIENCE_DATA=… ./run bench context',
      results: await benchContext(directory, log),
    });
  } else {
    console.log('context: skipped, because SALIENCE_DATA does not point at the datasets');
  }
}
const onData = {
  quality: async () => (await import('./quality.mjs')).benchQuality,
  ablations: async () => (await import('./ablations.mjs')).benchAblations,
  entities: async () => (await import('./entities.mjs')).benchEntities,
  floor: async () => (await import('./floor.mjs')).benchFloor,
  worth: async () => (await import('./worth.mjs')).benchWorth,
};
for (const [name, load] of Object.entries(onData)) {
  if (!wanted(name)) continue;
  const directory = process.env.SALIENCE_DATA;
  if (directory) {
    const measure = await load();
    save(name, { command: `SALIENCE_DATA=… ./run bench ${name}`, ...(await measure(directory, log)) });
  } else {
    console.log(`${name}: skipped, because SALIENCE_DATA does not point at the datasets`);
  }
}
if (wanted('grid')) {
  const directory = process.env.SALIENCE_DATA;
  if (!directory) throw new Error('grid: SALIENCE_DATA must point at the datasets');
  const { benchGrid } = await import('./grid.mjs');
  const results = await benchGrid(join(directory, 'locomo-dev.jsonl.gz'), log);
  save('grid', { command: 'SALIENCE_DATA=… ./run bench grid', results });
}
if (wanted('use-lite')) {
  const directory = process.env.SALIENCE_DATA;
  if (!directory) throw new Error('use-lite: SALIENCE_DATA must point at the datasets');
  const { benchUseLite } = await import('./use-lite.mjs');
  const results = await benchUseLite(directory, log);
  save('use-lite', { command: 'SALIENCE_DATA=… ./run bench use-lite', results });
}
if (wanted('scale')) {
  const { benchScale } = await import('./scale.mjs');
  const given = options.stores;
  const stores = given ?? '10000x256,100000x256,100000x256:equal,100000x256:near,1000000x256,1000000x384';
  const command = `./run bench scale${given ? ` --stores ${given}` : ''}`;
  save('scale', { command, results: await benchScale(stores.split(','), log) });
}
if (wanted('peers')) {
  const [{ benchPeers }, { peersTables }] = await Promise.all([
    import('./peers.mjs'),
    import('./peers-table.mjs'),
  ]);
  const { sizes: given, limit, total } = options;
  const measured = {
    sizes: given?.split(',').map(Number),
    ingestSeconds: limit && Number(limit),
    totalSeconds: total && Number(total),
  };
  const command = [
    './run bench peers',
    given && `--sizes ${given}`,
    limit && `--limit ${limit}`,
    total && `--total ${total}`,
  ];
  save('peers', { command: command.filter(Boolean).join(' '), ...(await benchPeers(measured, log)) });
  console.log(
    peersTables(JSON.parse(readFileSync(new URL('./results/peers.json', import.meta.url), 'utf8'))),
  );
}

updateMeasured();
updateBenchmarks();

function save(name, content) {
  const file = new URL(`./results/${name}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify({ version, machine: machine(), ...content }, null, 2)}\n`);
}
