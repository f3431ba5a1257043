import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress, formatProgress } from './progress.ts';

describe('formatProgress', () => {
  it('shows share, count, rate and time left', () => {
    expect(formatProgress({ label: 'importing', done: 12_000, share: 0.75, elapsedMs: 1500 })).toBe(
      'importing  ███████▌    75 %  12,000 · 8,000/s · 1 s left',
    );
    expect(formatProgress({ label: 'evaluating', done: 3, share: 0.001, elapsedMs: 2000 })).toBe(
      'evaluating               0 %  3 · 1.5/s · 33 min left',
    );
  });

  it('shows a share of something that is not counted', () => {
    const tuning = { label: 'tuning', done: undefined, elapsedMs: 2000 };
    expect(formatProgress({ ...tuning, share: 0.5 })).toBe('tuning  █████       50 %  2 s left');
    expect(formatProgress({ ...tuning, share: 0 })).toBe('tuning               0 %');
    expect(formatProgress(tuning)).toBe('tuning  2 s');
  });

  it('works without a share', () => {
    expect(formatProgress({ label: 'importing', done: 500, elapsedMs: 2000 })).toBe('importing  500 · 250/s');
  });
});

describe('createProgress', () => {
  beforeEach(() => {
    vi.stubEnv('TERM', 'xterm');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const terminal = () => {
    const written: string[] = [];
    return { written, isTTY: true, columns: 40, write: (text: string) => written.push(text) };
  };

  it('is drawn on a terminal of unknown width', () => {
    const stream = { ...terminal(), columns: 0 };
    let now = 0;
    const progress = createProgress('importing', stream, () => now);
    now = 1000;
    progress.update(500, 0.5);
    expect(stream.written.join('')).toContain('importing  ');
  });

  it('shows nothing in the first second, and draws at most ten times a second', () => {
    const stream = terminal();
    let now = 0;
    const progress = createProgress('importing', stream, () => now);
    for (const [at, drawn] of [
      [0, 0],
      [999, 0],
      [1000, 1],
      [1050, 1],
      [1100, 2],
    ] as const) {
      now = at;
      progress.update(at, 0.5);
      expect(stream.written).toHaveLength(drawn);
    }
    // Narrower than the terminal: a wrapped line could not be redrawn.
    for (const text of stream.written) expect(text.replace('\r\u001b[2K', '').length).toBeLessThan(40);
    progress.finish();
    expect(stream.written.at(-1)).toBe('\r\u001b[2K');
  });

  it('is redrawn while a step takes long, until it is finished', () => {
    vi.useFakeTimers();
    try {
      const stream = terminal();
      const progress = createProgress('curating', stream, Date.now);
      progress.update(undefined);
      vi.advanceTimersByTime(3000);
      expect(stream.written.map((text) => text.replace('\r\u001b[2K', ''))).toEqual([
        'curating  1 s',
        'curating  2 s',
        'curating  3 s',
      ]);
      progress.finish();
      vi.advanceTimersByTime(3000);
      expect(stream.written).toHaveLength(4);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('shows nothing on a dumb terminal', () => {
    vi.stubEnv('TERM', 'dumb');
    const stream = terminal();
    let now = 0;
    const progress = createProgress('importing', stream, () => now);
    now = 1000;
    progress.update(500, 0.5);
    progress.finish();
    expect(stream.written).toEqual([]);
  });

  it('shows nothing for quick work, and nothing outside of a terminal', () => {
    const quick = terminal();
    const progress = createProgress('importing', quick, () => 0);
    progress.update(1, 1);
    progress.finish();
    expect(quick.written).toEqual([]);
    const written: string[] = [];
    let now = 0;
    const piped = createProgress('importing', { write: (text) => written.push(text) }, () => now);
    now = 10_000;
    piped.update(1, 0.5);
    piped.finish();
    expect(written).toEqual([]);
  });
});
