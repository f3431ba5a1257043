// Writes the latest measured speed into docs/measured.md, between its markers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const page = new URL('../docs/measured.md', import.meta.url);

export function updateMeasured() {
  const speed = read('speed');
  const memory = read('memory');
  const living = read('living');
  if (!speed) return;
  const sizes = speed.results;
  const row = (name, value) => `| ${name} | ${sizes.map(value).join(' | ')} |`;
  const perSecond = (count) => (count ? `${count.toLocaleString('en')}/s` : 'not measured');
  const ms = (times) => (times ? `${times.p50} ms` : 'not measured');
  const lines = [
    `| ${speed.machine.node}, ${speed.machine.cpu}, medians | ${sizes.map(({ memories }) => `${memories.toLocaleString('en')} memories`).join(' | ')} |`,
    `| --- | ${sizes.map(() => '---').join(' | ')} |`,
    row('recall, `hybrid`', ({ recall }) => ms(recall.hybrid)),
    row('… the first 200 in a process', ({ recall }) => ms(recall.hybrid.first)),
    row('… a minute after the previous one', ({ aMinuteApart }) => ms(aMinuteApart)),
    row('… in eight scopes in turn', ({ eightScopesInTurn }) => ms(eightScopesInTurn)),
    row('recall, `bm25`', ({ recall }) => ms(recall.bm25)),
    row('recall, `balanced`', ({ recall }) => ms(recall.balanced)),
    row('words, similarity, recency and importance by a full scan in plain JavaScript', ({ naiveScan }) =>
      ms(naiveScan),
    ),
    row('words alone by FTS5, in memory', ({ fts5 }) => ms(fts5)),
    row('open a store and answer', ({ opening }) => ms(opening)),
    row('`salience recall`, whole process', ({ cliRecallProcess }) => ms(cliRecallProcess)),
    row('remember, durable, in batches of 1,000', ({ written }) => perSecond(written.batchesOf1000PerSecond)),
    row('… with vectors computed beforehand', ({ written }) => perSecond(written.vectorsGivenPerSecond)),
    row('remember a batch of one, durable', ({ written }) => ms(written.batchOfOneMs)),
    row('remember one, durable, with a search for contradictions', ({ written }) => ms(written.singleMs)),
  ];
  const notes = [
    memory &&
      `A memory takes ${memory.results.bytesPerMemory} bytes of RAM at ${memory.results.dimensions} dimensions.`,
    living &&
      `With ${living.results.links.toLocaleString('en')} links among ${living.results.memories.toLocaleString('en')} memories, following links makes a \`hybrid\` recall take ${living.results.expansionRatio} times as long. Recording what \`retention\` learns from a recall takes ${living.results.effectsMs} ms without links. If it follows links, the median of a \`retention\` recall is ${living.results.recall['retention with expansion'].p50} ms, and ${living.results.recall['retention with expansion and effects'].p50} ms if every recall also creates links. Maintenance of 100,000 memories takes ${living.results.maintenance[0].seconds} s.`,
  ].filter(Boolean);
  const block = `<!-- measured:speed -->\n${lines.join('\n')}\n\n${notes.join('\n')}\n<!-- /measured:speed -->`;
  const text = readFileSync(page, 'utf8');
  writeFileSync(
    page,
    text.replace(/<!-- measured:speed -->[\s\S]*<!-- \/measured:speed -->/, () => block),
  );
}

function read(name) {
  const file = new URL(`./results/${name}.json`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
