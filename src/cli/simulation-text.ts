import type { Development, LifeEvent, Sample, Simulation } from '../simulate/index.ts';
import { formatTable } from './table.ts';
import { cutToWidth, plainLine } from './terminal-text.ts';
import { plural } from './units.ts';

/** Days between two rows of a table. Events have rows of their own. */
const ROW_DAYS = 30;

const titles = ['day', 'retention', 'stability', 'tier', 'accesses', 'strongest link', 'turn'];
const right: readonly string[] = ['day', 'retention', 'stability', 'accesses'];

/** Formats one table per memory: its state each month if it has changed, and every event. */
export function formatSimulation(simulation: Simulation, columns: number): string {
  const { start, days, recalls, memories } = simulation;
  const shown = memories.map(({ id }) => id);
  return [
    `${plural(days, 'day')} from ${start.slice(0, 10)}, ${plural(recalls, 'recall')}`,
    ...memories.map((memory) => formatDevelopment(memory, days, shown, columns)),
  ].join('\n\n');
}

function formatDevelopment(
  memory: Development,
  days: number,
  shown: readonly string[],
  columns: number,
): string {
  const { storedAs } = memory;
  if (storedAs !== undefined) {
    const next = shown.includes(storedAs) ? 'see there' : `add ${storedAs} to "watch" to see it`;
    return plainLine(
      `${memory.id}: stored as ${storedAs}, which says the same or has the same topic; ${next}`,
    );
  }
  const head = cutToWidth(plainLine(`${memory.id}: ${memory.type}, "${memory.content}"`), columns);
  const all = rowDays(memory, days).flatMap((day) => {
    const sample = memory.samples.findLast((each) => each.day <= day);
    const turns = memory.events.filter((each) => each.day === day);
    return sample ? [rowOf(day, sample, turns)] : [];
  });
  const rows = all.filter((row, index) => index === all.length - 1 || !sameButDay(row, all[index - 1]));
  const table = formatTable(
    titles.map((title) => ({ title, align: right.includes(title) ? 'right' : 'left' })),
    rows,
    columns,
  );
  return `${head}\n${table}`;
}

/**
 * Returns the days of the rows: every month from the first sample to the last, the last day, and the days of its
 * events.
 */
function rowDays({ events, samples }: Development, days: number): readonly number[] {
  const first = samples[0]?.day ?? 0;
  const last = samples.at(-1)?.day ?? 0;
  const months = Array.from({ length: Math.floor(days / ROW_DAYS) + 1 }, (_, index) => index * ROW_DAYS);
  const shown = [...months, days].filter((day) => day >= first && day <= last);
  return [...new Set([...shown, ...events.map(({ day }) => day)])].sort((a, b) => a - b);
}

function sameButDay(row: readonly string[], other: readonly string[] | undefined): boolean {
  return other !== undefined && row.every((cell, index) => index === 0 || cell === other[index]);
}

function rowOf(day: number, sample: Sample, turns: readonly LifeEvent[]): readonly string[] {
  const what = turns.map(({ event }) => event);
  const gone = what.includes('forgotten');
  const link = sample.strongestLink;
  const state = [
    sample.retention.toFixed(3),
    sample.stability.toFixed(3),
    sample.core ? `${sample.tier}, core` : sample.tier,
    String(sample.accessCount),
    link ? `${link.id} ${link.weight.toFixed(2)} (${link.kind})` : '',
  ];
  return [String(Number(day.toFixed(2))), ...(gone ? ['', '', '', '', ''] : state), what.join(', ')];
}
