import type { LifeEvent, Simulation } from './play.ts';
import { drawLinePlot, type MarkShape } from './svg.ts';

const SHAPES: Readonly<Record<Exclude<LifeEvent['event'], 'remembered'>, MarkShape>> = {
  core: 'star',
  ended: 'triangle',
  cold: 'circle',
  warm: 'diamond',
  stub: 'square',
  forgotten: 'cross',
};

/** Retention over time, a line a memory, its turns marked, as an SVG document. */
export function plotRetention({ start, days, memories }: Simulation): string {
  return drawLinePlot({
    title: 'What is left of each memory',
    description: `Retention of ${memories.map(({ id }) => id).join(', ')} over ${days} days from ${start.slice(0, 10)}.`,
    xLabel: `days since ${start.slice(0, 10)}`,
    yLabel: 'retention',
    xMax: days,
    shapes: SHAPES,
    series: memories.map(({ id, samples, events }) => {
      const turns = events.filter(({ event }) => event !== 'remembered');
      return {
        name: id,
        points: samples.map(({ day, retention }) => ({ x: day, y: retention })),
        marks: turns.map(({ day, event }) => ({
          x: day,
          // The last that was known of it up to then: a forgotten memory has no value of its own.
          y: samples.findLast((sample) => sample.day <= day)?.retention ?? 0,
          kind: event,
        })),
      };
    }),
  });
}
