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

/** Plots retention over time as an SVG document, with one line per memory and marks for its events. */
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
          // The last known value: a forgotten memory has no value at its event.
          y: samples.findLast((sample) => sample.day <= day)?.retention ?? 0,
          kind: event,
        })),
      };
    }),
  });
}
