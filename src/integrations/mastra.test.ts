import { Agent } from '@mastra/core/agent';
import { MockLanguageModelV3 } from 'ai/test';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MemoryEngine } from '../index.ts';
import { live } from '../testing/live-memory.ts';
import { calls, says } from '../testing/sdk-answers.ts';
import { memoryTools } from './mastra.ts';

let memory: MemoryEngine;
beforeEach(async () => {
  ({ memory } = await live());
});
afterEach(() => memory.close());

const agentOf = (model: MockLanguageModelV3, tools = memoryTools(memory)) =>
  new Agent({ id: 'a', name: 'a', instructions: 'Remember.', model, tools });

test('an agent remembers and recalls by calling tools', async () => {
  const model = new MockLanguageModelV3({
    doGenerate: [
      calls('remember', { content: 'Keeps bees' }),
      calls('recall', { query: 'bees' }),
      says('done'),
    ],
  });
  const { text } = await agentOf(model).generate('I keep bees', { maxSteps: 5 });
  expect(text).toBe('done');
  expect((await memory.list()).memories.map(({ content }) => content)).toEqual(['Keeps bees']);
  const last = JSON.stringify(model.doGenerateCalls[2]?.prompt.at(-1));
  expect(last).toContain(String.raw`\"Keeps bees\"`);
});

test('a wrong call tells the model how to fix it, and writes nothing', async () => {
  const model = new MockLanguageModelV3({
    doGenerate: [calls('update', { id: 'nobody', content: 'x' }), says('sorry')],
  });
  await agentOf(model).generate('hi', { maxSteps: 3 });
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt.at(-1))).toContain('does not exist');
  expect((await memory.list()).memories).toEqual([]);
});

test.each([
  ['recall', { queri: 'bees' }],
  ['remember', {}],
  ['update', {}],
  ['forget', { ids: ['a'] }],
])('an input of %s that does not fit is told to the model, which goes on', async (tool, input) => {
  const model = new MockLanguageModelV3({ doGenerate: [calls(tool, input), says('sorry')] });
  const { text } = await agentOf(model).generate('hi', { maxSteps: 3 });
  expect(text).toBe('sorry');
  expect(model.doGenerateCalls[1]?.prompt.at(-1)?.content).toMatchObject([
    { output: { type: 'error-text', value: expect.stringContaining(`validation failed for ${tool}`) } },
  ]);
  expect((await memory.list()).memories).toEqual([]);
});

test('are those that were requested', () => {
  expect(Object.keys(memoryTools(memory)).sort()).toEqual(['forget', 'recall', 'remember', 'update']);
  expect(Object.keys(memoryTools(memory, { readOnly: true }))).toEqual(['recall']);
  expect(() => memoryTools(memory, { only: ['recal'] })).toThrow(/unknown tool "recal"/);
});
