import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { startScript } from './start-script.ts';

test.each(['close', 'leave', 'exit', 'exit-in-check'])(
  'a process ends well after another thread was, or while it is, at work on its file: %s',
  async (end) => {
    const directory = await mkdtemp(join(tmpdir(), 'salience-long-log-'));
    try {
      const script = startScript('long-log.mjs', directory, end);
      const lines: string[] = [];
      for await (const line of script.lines) lines.push(line);
      expect(await script.ended).toEqual({ code: 0, signal: null, errors: '' });
      expect(lines).toEqual(['done']);
      await using memory = await openMemory({ path: directory, space: 'alice' });
      expect((await memory.stats()).memories).toBe(4800);
      expect(await memory.check()).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
