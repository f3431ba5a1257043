import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { type Development, plotRetention, type Simulation, simulateLife } from './index.ts';
import { parseLifeScript } from './script.ts';

const example = readFileSync(new URL('../../examples/simulate/coffee.json', import.meta.url), 'utf8');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'salience-play-'));
  vi.stubEnv('TMPDIR', directory);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

const play = (script: object, signal?: AbortSignal) =>
  simulateLife(parseLifeScript(JSON.stringify(script)), { embedder: 'none', signal });

function find({ memories }: Simulation, id: string): Development {
  const found = memories.find((each) => each.id === id);
  if (!found) throw new Error(`no memory ${id}`);
  return found;
}

const at = ({ samples }: Development, day: number) => samples.findLast((each) => each.day === day);
const turns = ({ events }: Development) => events.map(({ day, event }) => `${event} ${day}`);

describe('simulateLife', () => {
  it('shows a memory that nobody uses fade along the curve, grow cold at its floor, and become a stub', async () => {
    const memory = { day: 1, id: 'a', content: 'It rained', type: 'event', importance: 0.4 };
    const life = find(await play({ days: 300, memories: [memory] }), 'a');
    // Spec 4.3: S = .1 + .3·importance, B = 1 + 2·importance, β = 45 for an event.
    const scale = 0.22 * 1.8 * 45;
    for (const day of [1, 2, 15, 40]) {
      expect(at(life, day)?.retention).toBeCloseTo(Math.exp(-(day - 1) / scale), 12);
    }
    const floorDay = 1 + scale * Math.log(50);
    const cold = Math.ceil(floorDay + 7);
    expect(turns(life)).toEqual(['remembered 1', `cold ${cold}`, `stub ${cold + 180}`]);
    expect(at(life, cold)).toMatchObject({ retention: 0.02, tier: 'cold', accessCount: 0, stability: 0.22 });
    expect(at(life, 300)).toMatchObject({ retention: 0, tier: 'stub' });
    expect(life.samples[0]?.day).toBe(1);
  });

  it('shows use: reinforced by spacing, linked with what came along, core once proved', async () => {
    const script = {
      days: 200,
      memories: [
        { day: 0, id: 'a', content: 'dark roast coffee', importance: 0.8 },
        { day: 0, id: 'b', content: 'dark roast grinder', importance: 0.2 },
      ],
      recalls: [{ day: 7, query: 'dark roast', session: 's{n}', every: 7, until: 84 }],
    };
    const played = await play(script);
    expect(played).toMatchObject({ start: '2026-01-01T00:00:00.000Z', days: 200, recalls: 12 });
    const a = find(played, 'a');
    expect(at(a, 7)).toMatchObject({ accessCount: 1, retention: 1, stability: expect.closeTo(0.44, 12) });
    expect(at(a, 7)?.strongestLink).toMatchObject({ id: 'b', kind: 'co-retrieval', weight: 0.1 });
    expect(at(a, 14)?.strongestLink?.weight).toBeCloseTo(0.1 + 0.1 * Math.exp(-7 / 90), 12);
    // The jump has two sides.
    const sides = a.samples.filter(({ day }) => day === 7).map(({ retention }) => retention);
    expect(sides).toHaveLength(2);
    expect(sides[0]).toBeLessThan(1);
    expect(turns(a)).toEqual(['remembered 0', 'core 70']);
    expect(at(a, 84)?.accessCount).toBe(12);
    const weakest = Math.min(...a.samples.map(({ retention }) => retention));
    expect(weakest).toBeGreaterThanOrEqual(0.6);
  });

  it('shows what ends and what expires', async () => {
    const script = {
      days: 60,
      memories: [
        { day: 0, id: 'plan', content: 'visit the museum', type: 'plan', validUntil: '2026-01-20T12:00:00Z' },
        { day: 0, id: 'code', content: 'the code is blue', expiresAt: '2026-02-01' },
      ],
    };
    const played = await play(script);
    expect(turns(find(played, 'plan'))).toEqual(['remembered 0', 'ended 20']);
    const code = find(played, 'code');
    expect(turns(code)).toEqual(['remembered 0', 'forgotten 31']);
    expect(code.samples.at(-1)?.day).toBe(31);
    expect(code.content).toBe('the code is blue');
  });

  it('plays the example the same way every time: table, plot and all', async () => {
    const first = await simulateLife(parseLifeScript(example));
    const second = await simulateLife(parseLifeScript(example));
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    expect(plotRetention(second)).toBe(plotRetention(first));
    expect(turns(find(first, 'roast'))).toEqual(['remembered 0', 'core 120']);
    expect(turns(find(first, 'tasting')).map((turn) => turn.split(' ')[0])).toEqual([
      'remembered',
      'cold',
      'warm',
      'cold',
    ]);
    expect(find(first, 'descale').samples.every(({ retention }) => retention === 1)).toBe(true);
    expect(turns(find(first, 'workshop'))).toContain('ended 90');
    expect(turns(find(first, 'voucher')).at(-1)).toBe('forgotten 243');
  });

  it('says what a memory was stored as that says the same, or has the topic, of an earlier one', async () => {
    const memory = { content: 'dark roast', topicKey: 'coffee' };
    const { memories } = await play({
      days: 2,
      memories: [
        { ...memory, day: 0, id: 'a' },
        { ...memory, day: 1, id: 'same' },
        { ...memory, day: 1, id: 'topic', content: 'light roast' },
      ],
    });
    expect(memories).toMatchObject([
      { id: 'a', samples: expect.arrayContaining([expect.objectContaining({ day: 2 })]) },
      { id: 'same', storedAs: 'a', samples: [], events: [] },
      { id: 'topic', storedAs: 'a', samples: [], events: [] },
    ]);
    expect(memories[0]).not.toHaveProperty('storedAs');
  });

  it('says where in the script the engine found a fault', async () => {
    const memory = { day: 0, content: 'dark roast' };
    const failure = async (script: object) => {
      const error = await play(script).catch((thrown: unknown) => thrown);
      if (!SalienceError.isInstance(error)) throw error;
      return [error.code, error.details['field'], error.message] as const;
    };
    expect(await failure({ memories: [memory, { ...memory, importance: 2 }] })).toEqual([
      'invalid_argument',
      'memories[1].importance',
      expect.stringMatching(/^memories\[1\]\.importance: 2 must be/),
    ]);
    expect(
      await failure({ memories: [memory], recalls: [{ day: 0, query: 'x', strategy: 'best' }] }),
    ).toEqual([
      'unknown_strategy',
      'recalls[0]',
      expect.stringMatching(/^recalls\[0\]: unknown strategy "best"/),
    ]);
    expect(await failure({ memories: [memory], recalls: [{ day: 0 }] })).toEqual([
      'blank_query',
      'recalls[0]',
      expect.any(String),
    ]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('stops when it is told to, and leaves nothing behind', async () => {
    const controller = new AbortController();
    const script = parseLifeScript(JSON.stringify({ memories: [{ day: 0, content: 'dark roast' }] }));
    const days: number[] = [];
    const progress = (day: number) => {
      days.push(day);
      if (day === 5) controller.abort();
    };
    const playing = simulateLife(script, { embedder: 'none', signal: controller.signal, progress });
    await expect(playing).rejects.toMatchObject({ code: 'aborted' });
    expect(days).toEqual([0, 1, 2, 3, 4, 5]);
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('plotRetention', () => {
  it('draws a line a memory and marks its turns', async () => {
    const memory = { day: 0, id: 'it rained', content: 'It rained', type: 'event', importance: 0 };
    const svg = plotRetention(
      await play({ days: 60, memories: [memory, { ...memory, id: 'b', type: 'procedure' }] }),
    );
    expect(svg.match(/<polyline /g)).toHaveLength(2);
    expect(svg).toContain('<title>it rained: cold, ');
    expect(svg).toContain('>days since 2026-01-01</text>');
    expect(svg).toContain('Retention of it rained, b over 60 days from 2026-01-01.');
  });
});
