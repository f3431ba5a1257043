import { describe, expect, it } from 'vitest';
import { verbs } from '../../api/index.ts';
import { mendWith } from '../../domain/mend.ts';
import { SalienceError } from '../../index.ts';
import { live } from '../../testing/live-memory.ts';
import type { Dialect, Tool } from '../tool.ts';
import { callTool } from '../tools.ts';
import { mem } from './mem.ts';
import { salience } from './salience.ts';
import { scoped } from './scoped.ts';

const dialects: readonly (readonly [string, Dialect])[] = [
  ['salience, few', salience('few')],
  ['salience, all', salience('all')],
  ['mem', mem()],
  ['scoped', scoped],
];

/** Names of tools and arguments that are also ordinary words. */
const ordinary = new Set([
  'activity',
  'before',
  'after',
  'links',
  'link',
  'texts',
  'to',
  'project',
  'below',
  'memories',
  'fade',
  'check',
  'context',
  'scope',
  'type',
  'types',
  'tags',
  'id',
  'content',
]);
const wordsOf = (tools: readonly Pick<Tool, 'name' | 'input'>[]) =>
  new Set(tools.flatMap(({ name, input }) => [name, ...Object.keys(input.shape)]));
const telling = new Set(
  [...wordsOf([...verbs, ...dialects.flatMap(([, { tools }]) => tools)])].filter(
    (each) => !ordinary.has(each),
  ),
);

async function textsOf({ instructions, tools }: Dialect): Promise<readonly string[]> {
  const help = tools.find(({ name }) => name === 'help');
  if (!help) return [instructions];
  const { memory } = await live({ embedder: 'none' });
  const { topics } = (await help.run(memory, {}, {})) as { topics: readonly string[] };
  expect(topics.length).toBeGreaterThan(3);
  const texts = await Promise.all(
    topics.map(async (topic) => ((await help.run(memory, { topic }, {})) as { text: string }).text),
  );
  return [instructions, help.description, ...texts];
}

describe.each(dialects)('the words of %s', (_, dialect) => {
  it('name only existing tools and arguments in instructions and help', async () => {
    const known = new Set([...wordsOf(dialect.tools), ...(await topicsOf(dialect))]);
    const texts = await textsOf(dialect);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) {
      const named = [...text.replace(/"[^"]*"/g, '').matchAll(/[A-Za-z_]+/g)]
        .map(([word]) => word)
        .filter((word) => telling.has(word));
      expect(
        named.filter((word) => !known.has(word)),
        text,
      ).toEqual([]);
    }
  });
});

async function topicsOf({ tools }: Dialect): Promise<readonly string[]> {
  const help = tools.find(({ name }) => name === 'help');
  if (!help) return [];
  const { memory } = await live({ embedder: 'none' });
  return ((await help.run(memory, {}, {})) as { topics: readonly string[] }).topics;
}

describe('errors', () => {
  const call = async (dialect: Dialect, name: string, input: Record<string, unknown>) => {
    const { memory } = await live({ embedder: 'none' });
    const user = name.startsWith('mem_') ? { user_id: memory.space } : {};
    const context = () => ({ now: new Date(0) });
    const answer = await callTool(
      dialect.tools,
      { name, arguments: { ...user, ...input } },
      memory,
      context,
      () => {},
      dialect.mend,
    );
    expect(answer.isError).toBe(true);
    return JSON.stringify(answer.content);
  };
  const library = /startSession|endSession|saveSummary|topicKey|sessionId|typesExclude|ambient/;

  it.each([
    ['mem_session_end', { summary: 'Done' }, /mem_session_start.*mem_session_summary/],
    ['mem_save', { content: 'x', type: 'decision', title: 't', topic_key: 'k'.repeat(600) }, /topic_key/],
    ['mem_search', { query: ' ' }, /query: pass the text to search for/],
    ['mem_search', { query: 'x', types: ['decision'], types_exclude: ['pattern'] }, /types_exclude/],
  ])('of %s speak its names', async (name, input, expected) => {
    const message = await call(mem(), name, input);
    expect(message).toMatch(expected);
    expect(message).not.toMatch(library);
  });

  it('of the scoped tools name no strategy', async () => {
    const message = await call(scoped, 'recall', { query: ' ' });
    expect(message).toMatch(/query: pass the text to search for/);
    expect(message).not.toMatch(library);
  });

  it.each(['few', 'all'] as const)('of %s tools of the engine name tools', async (choice) => {
    const message = await call(salience(choice), 'end_session', { summary: 'Done' });
    expect(message).toContain('start_session');
    expect(message).not.toMatch(library);
  });

  it.each(['few', 'all'] as const)('of %s tools of the engine advise only existing tools', async (choice) => {
    const dialect = salience(choice);
    const ended = await call(dialect, 'end_session', { summary: 'Done' });
    expect(ended).toMatch(/keep a summary without one with remember/);
    const summary = await call(dialect, 'remember', { content: 'Done', type: 'summary' });
    expect(summary).toMatch(/sessions: use end_session, or another type/);
    for (const conflictId of ['none', '7'])
      expect(await call(dialect, 'resolve', { conflictId, resolution: 'keep-both' })).toMatch(
        /remember reports/,
      );
  });

  it('keep the text of the caller, and all other parts of the error', () => {
    const cause = new Error('why');
    const given = new SalienceError('not_found', 'there is no "topicKey"; topicKey is', {
      details: { a: 1 },
      cause,
    });
    const mended = mendWith({ topicKey: 'topic_key' })(given);
    expect(mended).toMatchObject({
      code: 'not_found',
      message: 'there is no "topicKey"; topic_key is',
      details: { a: 1 },
      cause,
    });
    expect(mendWith({ x: 'y' })(cause)).toBe(cause);
  });
});
