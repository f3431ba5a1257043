import { parseInstant } from '../domain/time.ts';
import type { Hit, Recall, Trace } from '../index.ts';
import { formatExplanation } from '../scoring/format.ts';
import { summariseExplanation } from '../scoring/summary.ts';
import { formatDateRange } from '../text/dates/shown.ts';
import { drawLegend, drawScore } from './bar.ts';
import type { Context } from './context.ts';
import { redactedLines } from './look-back.ts';
import { lineOf } from './memory-text.ts';
import { nothingLine } from './nothing-line.ts';
import { formatTable } from './table.ts';
import { cutToWidth, plainBlock, plainLine } from './terminal-text.ts';
import { formatAge, plural } from './units.ts';

interface HitsView extends Pick<Context, 'now' | 'paint' | 'columns'> {
  readonly query: string | undefined;
  readonly explain: boolean;
  readonly trace: boolean;
}

/** Formats an answer for people: two lines per hit, warnings about searches that did not run, and what was examined. */
export function formatRecall({ hits, evidenceChains, nothing, trace }: Recall, view: HitsView): string {
  const { paint } = view;
  const first = hits[0];
  const legend = first && paint('dim', '.') !== '.' ? drawLegend(first.explain(), paint) : '';
  return [
    ...hits.flatMap((hit, index) => formatHit(hit, index + 1, view)),
    ...(nothing ? [nothingLine(nothing)] : []),
    ...evidenceChains.map(({ ids, weight }) =>
      paint('dim', cutToWidth(`evidence: ${pathText(ids)} (${weight.toFixed(2)})`, view.columns)),
    ),
    ...(legend === '' ? [] : [legend]),
    ...(trace.dates ?? []).map((each) => paint('dim', cutToWidth(dateText(each), view.columns))),
    ...(trace.spelling ?? []).map((each) => paint('dim', cutToWidth(spellingText(each), view.columns))),
    ...missingArms({ nothing, trace }).map((line) => paint('yellow', line)),
    ...redactedLines(trace.asOf?.redacted).map((line) => paint('dim', line)),
    paint('dim', formatTrace(trace, hits.length)),
    ...(view.trace ? [formatStages(trace, view.columns)] : []),
  ].join('\n');
}

function formatHit(hit: Hit, rank: number, view: HitsView): readonly string[] {
  const { memory, relation } = hit;
  const tree = hit.explain();
  const facts = [
    relation ? 'relation' : plainLine(memory.type),
    formatAge(parseInstant(memory.updatedAt), view.now),
    plainLine(relation?.id ?? memory.id),
    ...(hit.path ? [`via ${pathText(hit.path.slice(0, -1))}`] : []),
    ...(hit.viaDeepRecall ? ['deep'] : []),
  ];
  const head = `${String(rank).padStart(2)}  ${drawScore(tree, view.paint)}  ${tree.value.toFixed(4)}  `;
  const text = cutToWidth(
    plainLine(
      hit.snippet === undefined ? lineOf(memory) : [memory.title ?? [], hit.snippet].flat().join(': '),
    ),
    view.columns - 4,
  );
  return [
    head + view.paint('dim', cutToWidth(facts.join(' · '), view.columns - 24)),
    `    ${markWords(text, view)}`,
    view.paint('dim', `    = ${cutToWidth(plainLine(summariseExplanation(tree)), view.columns - 6)}`),
    ...(view.explain ? [indent(plainBlock(formatExplanation(tree, 'text')))] : []),
  ];
}

function pathText(ids: readonly string[]): string {
  return ids.map(plainLine).join(' → ');
}

/** Makes words bold that match the query literally. This is only a visual aid: the index also matches other forms. */
function markWords(text: string, { query, paint }: HitsView): string {
  const words = query
    ?.match(/[\p{L}\p{N}]{2,}/gu)
    ?.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (!words || words.length === 0) return text;
  return text.replace(
    new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`, 'giu'),
    (word) => paint('bold', word),
  );
}

function dateText(date: NonNullable<Trace['dates']>[number]): string {
  return `date: "${plainLine(date.text)}" is ${formatDateRange(date)}`;
}

function spellingText({ word, standIns }: NonNullable<Trace['spelling']>[number]): string {
  const terms = standIns.map(({ term }) => plainLine(term)).join(', ');
  return `spelling: no memory has "${plainLine(word)}"; looked for ${terms}`;
}

const armProblems = { off: 'is off', failed: 'failed', blank: 'found nothing to look for' } as const;

/**
 * Returns warnings about searches that did not take part, unless the answer is empty for that reason and says so
 * itself.
 */
export function missingArms({ nothing, trace }: Pick<Recall, 'nothing' | 'trace'>): readonly string[] {
  if (nothing?.reason === 'unsearched') return [];
  return trace.arms.flatMap(({ name, status, reason }) =>
    status === 'ran' || status === 'not-used'
      ? []
      : [`warning: the ${name} search ${armProblems[status]}${reason ? `: ${plainLine(reason)}` : ''}`],
  );
}

function formatTrace(trace: Trace, hits: number): string {
  const stage = (name: string) => trace.stages.find((each) => each.name === name);
  const total = stage('eligible')?.candidates ?? 0;
  const { candidates = 0, atMost } = stage('score') ?? {};
  return `${plural(total, 'memory', 'memories')} → ${atMost ? 'at most ' : ''}${plural(candidates, 'candidate')} → ${plural(hits, 'hit')} · ${trace.strategy} · ${trace.completeness} · ${trace.totalMs.toFixed(1)} ms`;
}

function formatStages(trace: Trace, columns: number): string {
  const titles = ['stage', 'candidates', 'survivors', 'ms'];
  const table = formatTable(
    titles.map((title) => ({ title, align: title === 'stage' ? ('left' as const) : ('right' as const) })),
    trace.stages.map(({ name, candidates, survivors, atMost, durationMs }) => [
      name,
      `${atMost === 'candidates' ? '≤ ' : ''}${candidates}`,
      `${atMost === 'survivors' ? '≤ ' : ''}${survivors}`,
      durationMs.toFixed(2),
    ]),
    columns,
  );
  const reasons = trace.stages.flatMap(({ name, reason }) =>
    reason === undefined ? [] : [`${name}: ${reason}`],
  );
  return [table, ...reasons].join('\n');
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `      ${line}`)
    .join('\n');
}
