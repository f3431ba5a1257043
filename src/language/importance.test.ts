import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IMPORTANCE_BANDS, isMereQuestion, judgeImportance } from './importance.ts';

const of = (statement: string) => judgeImportance(statement).importance;

/** Statements of each band, by the table of signals and the examples given with it. */
const bands: readonly (readonly [name: string, low: number, high: number, statements: readonly string[]])[] =
  [
    [
      'critical',
      0.8,
      1,
      [
        'Ann is allergic to penicillin.',
        'He was diagnosed with type 1 diabetes in 2019.',
        'My blood type is 0 negative',
        'The API key for staging is in the vault',
        'Our database password rotates on the first of the month.',
        'The board decided to approve the acquisition of Initech.',
        'We had a security breach in March.',
        'The launch date is 2026-09-01',
      ],
    ],
    [
      'said to be important',
      0.8,
      1,
      [
        "It's very important that the report is in German.",
        "Please remember that I can't do Mondays.",
        'Don’t forget: the door has to stay closed',
        'Keep in mind that the cat is shy',
        'Never forget to lock the gate',
        'You must always ask first',
        'This is crucial for her',
        'Staying in touch is important to me.',
        'Important: the shop closes at six',
        'Please water the plants, it is urgent',
      ],
    ],
    [
      'professional',
      0.6,
      0.8,
      [
        'The project deadline moved to Friday.',
        'We decided to use PostgreSQL.',
        'She works at Siemens as an engineer',
        'My manager wants a summary of the meeting.',
        'They are migrating the codebase to TypeScript',
        'The Q3 budget is 40,000 euros',
      ],
    ],
    [
      'useful to help well',
      0.5,
      0.7,
      [
        'His timezone is Europe/Berlin.',
        'I am at UTC+2',
        'Prefers short answers.',
        'Her native language is Portuguese',
        'Please answer in French',
        'Likes a direct communication style',
      ],
    ],
    [
      'preferences and recurring patterns',
      0.4,
      0.6,
      [
        'Prefers dark roast',
        'I love hiking',
        'Their favourite band is Portishead.',
        'My favorite color is green',
        'He goes running every morning.',
        'She usually has lunch at noon',
        "I don't like mushrooms",
        'My sister lives in Porto',
      ],
    ],
    [
      'casual',
      0.1,
      0.3,
      [
        'The weather is lovely today',
        'I just had a sandwich',
        'lol that was funny',
        'How are you?',
        'A bird sat on the roof.',
        'Hi there!',
        'ok, thanks a lot!',
        'Haha, nice.',
        'Het regent in Utrecht',
      ],
    ],
  ];

describe.each(bands)('%s (%f to %f)', (_, low, high, statements) => {
  it.each(statements)('%s', (statement) => {
    expect(of(statement)).toBeGreaterThanOrEqual(low);
    expect(of(statement)).toBeLessThanOrEqual(high);
  });
});

describe('the rules', () => {
  it('name what they found, and the highest counts', () => {
    const { importance, signals } = judgeImportance(
      'Always ask my manager before you use the production password',
    );
    expect(importance).toBe(0.9);
    expect(signals).toEqual([
      { name: 'credentials', importance: 0.9 },
      { name: 'professional', importance: 0.65 },
      { name: 'recurring', importance: 0.5 },
    ]);
  });

  it.each([
    'It is not important',
    "That isn't very important",
    'not that important',
    'unimportant',
    'less urgent',
  ])('are not fooled by a denial: %s', (statement) => expect(of(statement)).toBe(0.3));

  it.each([
    'Volunteering is a great way to meet people, and helping is important.',
    'I love stories that tackle important issues',
    'I remember that day',
    "That's so important.",
    "It's an adventure you'll never forget",
    "How important is it to you? It wasn't so important to me",
    'Great job!',
  ])('leave alone what is only called important, remembered or praised: %s', (statement) =>
    expect(of(statement)).toBeLessThanOrEqual(0.5),
  );

  it.each(['passwordless', 'a clientele', 'cancerous', 'Iponema', 'strokes of a brush, chronicle'])(
    'look for whole words: %s',
    (statement) => expect(of(statement)).toBeLessThanOrEqual(0.3),
  );

  it('tell politeness, small talk and the unknown apart', () => {
    expect(['Thanks!', 'It is raining', 'A stone lies there'].map(of)).toEqual([0.1, 0.2, 0.3]);
    expect(of('')).toBe(0.3);
  });

  it('know the question marks of other scripts', () => {
    expect(['Is it raised?', '这是什么？', 'ما هذا؟', 'Πού μένω;'].map(of)).toEqual([0.2, 0.2, 0.2, 0.2]);
    expect(of('One of these;')).toBe(0.3);
  });

  it('take nothing for a question that also tells something, or has a line that asks nothing', () => {
    const mixed = [
      'It is raised. Is it?',
      'Look! Is it raised?',
      'Is it raised?\nIt is',
      'Is it raised? It is',
    ];
    expect(mixed.map(of)).toEqual(mixed.map(() => 0.3));
    expect(of('Is it raised?\n\nHow high?\n')).toBe(0.2);
  });

  it('do not take politeness for a question', () => {
    const asking = ['Hi! Is it raised? Thanks!', 'Hi! Thanks!', 'Thanks!', ''].map(isMereQuestion);
    expect(asking).toEqual([true, false, false, false]);
  });

  it('do not end a question at a mark within a number', () => {
    const asking = ['Where is version 2.0?', 'Is it at 10:30?', 'Does it cost 1,200.50?'].map(isMereQuestion);
    expect(asking).toEqual([true, true, true]);
    const telling = ['Is it at 10: the gate is shut?', 'Is it 2. I am allergic?', 'Is it 2,I am ill?'];
    expect(telling.map(isMereQuestion)).toEqual([false, false, false]);
  });

  it('use the type in any language', () => {
    expect(judgeImportance('Wir nehmen PostgreSQL', { type: 'decision' }).importance).toBe(0.7);
    expect(judgeImportance('Mag Tee', { type: 'preference' }).importance).toBe(0.5);
    expect(judgeImportance('Mag Tee', { type: 'fact' }).importance).toBe(0.3);
    expect(judgeImportance('Mag Tee', { type: 'constructor' }).importance).toBe(0.3);
  });

  it('keep at least the importance of what is contradicted or updated', () => {
    const about = { atLeast: 0.85 };
    expect(judgeImportance('It is raining', about).importance).toBe(0.85);
    expect(judgeImportance('She is allergic to nuts', about).importance).toBe(0.9);
    expect(judgeImportance('x', about).signals).toEqual([
      { name: 'contradicts or updates an earlier memory', importance: 0.85 },
    ]);
  });

  it('are the same at every asking, and within 0 and 1', () => {
    const words = bands.flatMap(([, , , statements]) =>
      statements.flatMap((statement) => statement.split(' ')),
    );
    const text = fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((each) => each.join(' '));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (statement) => {
        const importance = of(statement);
        expect(importance).toBe(of(statement));
        expect(importance).toBeGreaterThanOrEqual(0.1);
        expect(importance).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('take no time over a long text', () => {
    const texts = [
      'ok '.repeat(20_000),
      'a'.repeat(60_000),
      'not that very '.repeat(4000),
      '!'.repeat(60_000),
      'what? '.repeat(10_000),
      'a'.repeat(30_000) + '? '.repeat(10_000),
      `zebra ${'?    '.repeat(4000)}zebra`,
      `what ${'? \n  '.repeat(4000)}zebra.`,
      `${'what is it? '.repeat(4000)}${' '.repeat(4000)}zebra`,
    ];
    // What looks at each place from each place takes minutes here, and is stopped by the limit of a test.
    for (const text of texts) {
      expect(of(text)).toBeLessThanOrEqual(0.5);
      isMereQuestion(text);
    }
  });

  it('have bands that hold their own values', () => {
    for (const { from, to } of IMPORTANCE_BANDS) expect(from).toBeLessThan(to);
    expect(Math.max(...IMPORTANCE_BANDS.map(({ to }) => to))).toBe(1);
  });
});
