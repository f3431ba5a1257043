import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { scheduleOf } from './schedule.ts';
import { parseLifeScript } from './script.ts';

const memory = { day: 0, content: 'Prefers dark roast' };
const parse = (script: object, days?: number) => parseLifeScript(JSON.stringify(script), { days });

function problem(work: () => unknown): {
  readonly code: string;
  readonly field: unknown;
  readonly message: string;
} {
  try {
    work();
  } catch (error) {
    if (SalienceError.isInstance(error)) {
      return { code: error.code, field: error.details['field'], message: error.message };
    }
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parseLifeScript', () => {
  it('fills in what is left out', () => {
    const script = parse({
      memories: [memory, { ...memory, id: 'b', day: 3.5 }],
      recalls: [{ day: 1, query: 'x' }],
    });
    expect(script).toMatchObject({
      start: Date.UTC(2026, 0, 1),
      days: 365,
      maintainEvery: 1,
      consolidate: false,
      memories: [
        { where: 'memories[0]', day: 0, input: { id: 'memory-1', content: 'Prefers dark roast' } },
        { where: 'memories[1]', day: 3.5, input: { id: 'b' } },
      ],
      recalls: [{ where: 'recalls[0]', day: 1, query: 'x', strategy: 'retention', until: 365 }],
      watch: ['memory-1', 'b'],
    });
  });

  it('reads the example', () => {
    const example = new URL('../../examples/simulate/coffee.json', import.meta.url);
    const script = parseLifeScript(readFileSync(example, 'utf8'));
    expect(script.watch).toContain('roast');
    expect(script.memories).toHaveLength(8);
  });

  it('reads JSON Lines as it reads JSON', () => {
    const recall = { day: 2, query: 'roast', session: 's{n}', every: 3, until: 20, limit: 1 };
    const settings = { start: '2026-03-01', days: 40, maintainEvery: 7, watch: ['memory-1'] };
    const lines = [
      { kind: 'settings', ...settings },
      { kind: 'memory', ...memory },
      { kind: 'recall', ...recall },
    ];
    const read = parseLifeScript(`\uFEFF${lines.map((each) => JSON.stringify(each)).join('\r\n\n')}\n`, {
      format: 'jsonl',
    });
    const whole = parse({ ...settings, memories: [memory], recalls: [recall] });
    const placeless = (script: object) => JSON.parse(JSON.stringify(script).replace(/"where":"[^"]*",/g, ''));
    expect(placeless(read)).toEqual(placeless(whole));
    expect(read.recalls[0]?.where).toBe('line 5');
  });

  it('takes what remember takes, and maintains never or hourly at most', () => {
    const { memories } = parse({ memories: [{ ...memory, ttl: '7d' }], maintainEvery: 0 });
    expect(memories[0]?.input).toMatchObject({ ttl: '7d' });
    expect(parse({ memories: [memory], maintainEvery: 1 / 24 }).maintainEvery).toBe(1 / 24);
  });

  it('ends with the year 9999 at the latest', () => {
    const script = { memories: [memory], start: '9999-12-30', days: 3 };
    expect(problem(() => parse(script)).message).toBe(
      'start: 3 days from 9999-12-30T00:00:00.000Z end after the year 9999; start earlier, or play fewer days',
    );
    expect(parse(script, 1)).toMatchObject({ days: 1 });
    expect(problem(() => parse({ ...script, days: 1 }, 2)).field).toBe('start');
  });

  it('plays fewer days, or more', () => {
    const script = {
      days: 30,
      memories: [memory, { ...memory, id: 'late', day: 20 }],
      recalls: [
        { day: 1, query: 'x', every: 2 },
        { day: 15, query: 'x' },
      ],
      watch: ['memory-1', 'late'],
    };
    expect(parse(script, 10)).toMatchObject({ days: 10, watch: ['memory-1'], recalls: [{ until: 10 }] });
    expect(parse(script, 10).memories).toHaveLength(1);
    expect(parse(script, 60)).toMatchObject({
      days: 60,
      watch: ['memory-1', 'late'],
      recalls: [{ until: 60 }, {}],
    });
  });

  it.each([
    [{}, 'memories'],
    [{ memories: [] }, 'memories'],
    [{ memories: {} }, 'memories'],
    [{ memories: [memory], speed: 2 }, 'script.speed'],
    [{ memories: [memory], days: 0 }, 'days'],
    [{ memories: [memory], days: 1.5 }, 'days'],
    [{ memories: [memory], start: '9999-12-30', days: 3 }, 'start'],
    [{ memories: [memory], maintainEvery: -1 }, 'maintainEvery'],
    [{ memories: [memory], maintainEvery: 1e-12 }, 'maintainEvery'],
    [{ memories: [memory], consolidate: 'yes' }, 'consolidate'],
    [{ memories: [memory], watch: ['nobody'] }, 'watch[0]'],
    [{ memories: [memory], watch: [] }, 'watch'],
    [{ memories: ['text'] }, 'memories[0]'],
    [{ memories: [{ day: 0 }] }, 'memories[0].content'],
    [{ memories: [{ ...memory, day: 366 }] }, 'memories[0].day'],
    [{ memories: [{ ...memory, day: 'monday' }] }, 'memories[0].day'],
    [{ memories: [{ ...memory, importanse: 1 }] }, 'memories[0].importanse'],
    [{ memories: [{ ...memory, createdAt: '2020-01-01' }] }, 'memories[0].createdAt'],
    [
      {
        memories: [
          { ...memory, id: 'a' },
          { ...memory, id: 'a' },
        ],
      },
      'memories[1].id',
    ],
    [{ memories: [memory], recalls: {} }, 'recalls'],
    [{ memories: [memory], recalls: [{ query: 'x' }] }, 'recalls[0].day'],
    [{ memories: [memory], recalls: [{ day: 0, query: ' ' }] }, 'recalls[0].query'],
    [{ memories: [memory], recalls: [{ day: 0, query: 'x', every: 0 }] }, 'recalls[0].every'],
    [{ memories: [memory], recalls: [{ day: 9, query: 'x', every: 1, until: 8 }] }, 'recalls[0].until'],
    [{ memories: [memory], recalls: [{ day: 0, query: 'x', until: 8 }] }, 'recalls[0].until'],
    [{ memories: [memory], recalls: [{ day: 0, query: 'x', limit: 0 }] }, 'recalls[0].limit'],
    [{ memories: [memory], recalls: [{ day: 0, query: 'x', types: 'fact' }] }, 'recalls[0].types'],
  ])('refuses %j, naming %s', (script, field) => {
    const found = problem(() => parse(script));
    expect(found).toMatchObject({ code: 'invalid_argument', field });
    const [, object, name] = /^(.*)\.(\w+)$/.exec(field) ?? [];
    const unknown = `${object}: unknown option "${name}" (`;
    expect(found.message.startsWith(`${field}: `) || found.message.startsWith(unknown)).toBe(true);
  });

  it('names the line in JSON Lines', () => {
    const lines = (...texts: readonly string[]) =>
      problem(() => parseLifeScript(texts.join('\n'), { format: 'jsonl' }));
    const good = JSON.stringify({ kind: 'memory', ...memory });
    expect(lines(good, '{"kind":')).toMatchObject({ code: 'invalid_argument', field: 'line 2' });
    expect(lines(good, '', '[]')).toMatchObject({ field: 'line 3' });
    expect(lines('{"kind":"dream"}')).toMatchObject({ field: 'line 1.kind' });
    expect(lines('{"kind":"settings"}', '{"kind":"settings"}')).toMatchObject({ field: 'line 2' });
    expect(lines('{"kind":"settings","days":"many"}', good)).toMatchObject({ field: 'line 1.days' });
    expect(lines('{"kind":"memory","day":0}')).toMatchObject({ field: 'line 1.content' });
  });

  it('refuses what is not valid JSON, and a start that is no time', () => {
    expect(problem(() => parseLifeScript('{'))).toMatchObject({ code: 'invalid_argument', field: 'script' });
    expect(problem(() => parse({ memories: [memory], start: 'soon' }))).toMatchObject({
      code: 'invalid_time',
      field: 'start',
    });
  });
});

describe('scheduleOf', () => {
  const plan = (script: object) =>
    scheduleOf(parse(script)).map(
      ({ day, actions }) => [day, actions.map(({ kind }) => kind).join(' ')] as const,
    );

  it('has every day, and what happens on it in its order', () => {
    const script = {
      days: 4,
      maintainEvery: 2,
      memories: [{ ...memory, day: 1 }],
      recalls: [{ day: 1, query: 'x', every: 1.5 }],
    };
    expect(plan(script)).toEqual([
      [0, ''],
      [1, 'remember recall'],
      [2, 'maintain'],
      [2.5, 'recall'],
      [3, ''],
      [4, 'recall maintain'],
    ]);
    expect(plan({ days: 1, maintainEvery: 0, memories: [memory] })).toEqual([
      [0, 'remember'],
      [1, ''],
    ]);
  });

  it('numbers the repetitions in the session, and keeps the clock', () => {
    const script = parse({
      start: '2026-02-01',
      days: 9,
      memories: [memory],
      recalls: [{ day: 1, query: 'x', session: 'week-{n}-{n}', every: 4 }],
    });
    const recalls = scheduleOf(script).flatMap(({ at, actions }) =>
      actions.flatMap((each) => (each.kind === 'recall' ? [[at, each.session]] : [])),
    );
    const start = Date.UTC(2026, 1, 1);
    expect(recalls).toEqual([
      [start + MILLISECONDS_PER_DAY, 'week-1-1'],
      [start + 5 * MILLISECONDS_PER_DAY, 'week-2-2'],
      [start + 9 * MILLISECONDS_PER_DAY, 'week-3-3'],
    ]);
  });

  it('refuses more recalls than anybody waits for', () => {
    const often = { day: 0, query: 'x', every: 0.05 };
    const script = { days: 3660, memories: [memory], recalls: [often, often] };
    expect(problem(() => plan(script))).toMatchObject({
      code: 'invalid_argument',
      field: 'recalls[1].every',
    });
  });
});
