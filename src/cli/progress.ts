import { drawBar } from './bar.ts';
import { columnsOf, cutToWidth } from './terminal-text.ts';
import { formatCount, formatSeconds } from './units.ts';

/** Work in progress: how much is done, and the share of the whole, each if known. */
export interface ProgressState {
  readonly label: string;
  readonly done: number | undefined;
  /** 0–1. */
  readonly share?: number | undefined;
  readonly elapsedMs: number;
}

export interface Progress {
  update(done: number | undefined, share?: number): void;
  /** Removes the line. */
  finish(): void;
}

/** Work that ends sooner shows no progress. */
const QUIET_MS = 1000;
const REDRAW_MS = 100;
/** A line is redrawn so often even without an update, because a single step may take long. */
const TICK_MS = 1000;

/**
 * Creates a progress line that is redrawn on a terminal, from the first update until `finish`. Shows nothing on other
 * streams and on dumb terminals.
 */
export function createProgress(
  label: string,
  stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown },
  clock: () => number = () => performance.now(),
): Progress {
  if (!stream.isTTY || process.env['TERM'] === 'dumb') return { update() {}, finish() {} };
  const started = clock();
  let drawn: number | undefined;
  let reached: readonly [done: number | undefined, share?: number | undefined] = [undefined];
  let ticking: NodeJS.Timeout | undefined;
  const draw = () => {
    const now = clock();
    if (now - started < QUIET_MS || (drawn !== undefined && now - drawn < REDRAW_MS)) return;
    drawn = now;
    const [done, share] = reached;
    const line = formatProgress({ label, done, share, elapsedMs: now - started });
    stream.write(`\r\u001b[2K${cutToWidth(line, columnsOf(stream) - 1)}`);
  };
  return {
    update(...state) {
      reached = state;
      draw();
      ticking ??= setInterval(draw, TICK_MS).unref();
    },
    finish() {
      clearInterval(ticking);
      ticking = undefined;
      if (drawn !== undefined) stream.write('\r\u001b[2K');
      drawn = undefined;
    },
  };
}

/**
 * Formats progress, such as `importing  ███████▍   74 %  12,300 · 8,120/s · 3 s left`. If nothing is known, shows how
 * long the work has taken: `curating  12 s`.
 */
export function formatProgress({ label, done, share, elapsedMs }: ProgressState): string {
  const speed = done === undefined ? [] : [speedOf(done, elapsedMs)];
  if (share === undefined)
    return [label, ...(speed.length > 0 ? speed : [formatSeconds(elapsedMs / 1000)])].join('  ');
  const left = share > 0 ? [`${formatSeconds((elapsedMs / 1000) * (1 / share - 1))} left`] : [];
  const bar = `${label}  ${drawBar(share)} ${String(Math.floor(share * 100)).padStart(3)} %`;
  return [bar, [...speed, ...left].join(' · ')].join('  ').trimEnd();
}

function speedOf(done: number, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? (done / elapsedMs) * 1000 : 0;
  return `${formatCount(done)} · ${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)}/s`;
}
