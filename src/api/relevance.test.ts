import { describe, expect, test } from 'vitest';
import { salience } from '../mcp/dialects/salience.ts';
import { live } from '../testing/live-memory.ts';
import { agentVerbs, callVerb, type Tool, verbs } from './index.ts';

const named = (tools: readonly Tool[], name: string) => {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`there is no ${name}`);
  return tool;
};

async function filled() {
  const { memory } = await live();
  await memory.rememberMany([
    { id: 'tea', content: 'Bob drinks tea in the morning' },
    { id: 'cello', content: 'Dana plays the cello on Sundays' },
  ]);
  return memory;
}

/** A query that no memory answers, although one is about a related subject. */
const query = 'Which shop sells shoes?';
const text = /^nothing relevant is known: 2 memories were looked at.*\. A recall with minRelevance 0 finds/;

describe('the measured floor', () => {
  test.each([
    ['all tools', agentVerbs],
    ['few tools', salience('few').tools],
  ])('is the default of the recall of an agent: %s', async (_, tools) => {
    const memory = await filled();
    const recall = named(tools, 'recall');
    const answer = await callVerb(recall, memory, { query });
    expect(answer).toMatchObject({ hits: [], nothing: { reason: 'irrelevant' } });
    expect(recall.text(answer)).toMatch(text);
    expect(await callVerb(recall, memory, { query, minRelevance: 0 })).not.toMatchObject({ hits: [] });
    expect(await callVerb(recall, memory, { query: 'who drinks tea?' })).toMatchObject({
      hits: [{ memory: { id: 'tea' } }],
    });
  });

  test('is not the default of a program', async () => {
    const memory = await filled();
    expect(await callVerb(named(verbs, 'recall'), memory, { query })).not.toMatchObject({ hits: [] });
    const given = { id: 'tea', query, minRelevance: 'auto' };
    expect(await callVerb(named(verbs, 'why_not'), memory, given)).toMatchObject({
      stage: 'floor',
      relevance: { minRelevance: 0.17 },
    });
  });

  test('is the default of a context, which says that nothing is known', async () => {
    const memory = await filled();
    const context = named(agentVerbs, 'context');
    const answer = await callVerb(context, memory, { query, maxTokens: 500 });
    expect(answer).toMatchObject({ text: '', items: [], nothing: { reason: 'irrelevant' } });
    expect(context.text(answer)).toMatch(text);
    // If a memory was found but does not fit, the text does not say that nothing is known.
    const cramped = await callVerb(context, memory, { query: 'who drinks tea?', maxTokens: 5 });
    expect(context.text(cramped)).toBe('found 1 memory, of which none fits into 5 tokens; raise maxTokens');
  });

  test.each([
    [{ minScore: 1 }, /^nothing found: the best score is 0\.\d{4}, below minScore 1$/],
    [
      { sections: ['procedures'] },
      /^nothing found for these sections: 1 memory was found, of a type that none of them takes$/,
    ],
    [
      { sections: ['procedures'], mustInclude: ['tea'] },
      /^nothing found for these sections: 1 memory was found, of a type that none of them takes$/,
    ],
    [
      { sections: ['procedures'], minRelevance: 0, mustInclude: ['step'], maxTokens: 5 },
      /^found 1 memory, of which none fits into 5 tokens; raise maxTokens$/,
    ],
  ])('is not the reason where a context leaves out what was found: %j', async (options, said) => {
    const memory = await filled();
    await memory.remember('Open the window', { id: 'step', type: 'procedure' });
    const context = named(agentVerbs, 'context');
    const answer = await callVerb(context, memory, { query: 'who drinks tea?', maxTokens: 500, ...options });
    expect(answer).toMatchObject({ text: '', items: [] });
    expect(context.text(answer)).toMatch(said);
  });
});
