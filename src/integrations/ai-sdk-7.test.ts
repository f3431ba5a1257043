import {
  generateText,
  isStepCount,
  type LanguageModel,
  streamText,
  ToolLoopAgent,
  type ToolSet,
  wrapLanguageModel,
} from 'ai-7';
import { MockLanguageModelV4, simulateReadableStream } from 'ai-7/test';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { MemoryEngine } from '../index.ts';
import { aiSdkModel } from '../providers/ai-sdk.ts';
import { live } from '../testing/live-memory.ts';
import { calls, says, usage } from '../testing/sdk-answers.ts';
import { memoryMiddleware, memoryTools } from './ai-sdk.ts';

// Version 7 of the AI SDK, whose models and middleware follow another version of the specification. The types here are
// those of version 6. That they fit an installed version 7 is checked by a test of the package.
const tools = () => memoryTools(memory) as unknown as ToolSet;
const middleware = () => memoryMiddleware(memory, { observe: 'remember' }) as never;

type Result = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type Stream = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];

const scripted = (...doGenerate: Result[]) => new MockLanguageModelV4({ doGenerate });
const contents = async () => (await memory.list()).memories.map(({ content }) => content).sort();

let memory: MemoryEngine;
beforeEach(async () => {
  ({ memory } = await live());
});
afterEach(() => memory.close());

test('generateText and an agent call the tools', async () => {
  const model = scripted(
    calls('remember', { content: 'Keeps bees', type: 'fact' }),
    calls('recall', { query: 'bees' }),
    says('done'),
  );
  const agent = new ToolLoopAgent({ model, tools: tools(), stopWhen: isStepCount(5) });
  const { steps } = await agent.generate({ prompt: 'I keep bees' });
  expect(await contents()).toEqual(['Keeps bees']);
  expect(steps[1]?.toolResults[0]?.output).toMatchObject({ hits: [{ memory: { content: 'Keeps bees' } }] });
  expect(model.doGenerateCalls[2]?.prompt.at(-1)).toMatchObject({
    role: 'tool',
    content: [
      { toolName: 'recall', output: { type: 'text', value: expect.stringContaining('"Keeps bees"') } },
    ],
  });
  const wrong = scripted(calls('update', { id: 'nobody', content: 'x' }), says('sorry'));
  const refused = await generateText({
    model: wrong,
    tools: tools(),
    stopWhen: isStepCount(3),
    prompt: 'hi',
  });
  expect(refused.steps[0]?.content.find(({ type }) => type === 'tool-error')).toMatchObject({
    error: { code: 'not_found' },
  });
});

test('the middleware adds what is known to the question, and stores what was said', async () => {
  await memory.remember('The user is allergic to peanuts');
  const model = scripted(says('No, they have peanuts in them.'));
  await generateText({
    model: wrapLanguageModel({ model, middleware: middleware() }),
    prompt: 'Are peanuts fine for me?',
  });
  expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('allergic to peanuts');
  expect(await contents()).toEqual([
    'The user is allergic to peanuts',
    'User: Are peanuts fine for me?\nAssistant: No, they have peanuts in them.',
  ]);
});

test('the middleware stores streamed answers', async () => {
  const stream: Stream = simulateReadableStream({
    chunks: [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Buzz' },
      { type: 'text-end', id: '1' },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
    ],
  });
  const model = new MockLanguageModelV4({ doStream: { stream } });
  const result = streamText({
    model: wrapLanguageModel({ model, middleware: middleware() }),
    prompt: 'I keep bees',
  });
  expect(await result.text).toBe('Buzz');
  expect(await contents()).toEqual(['User: I keep bees\nAssistant: Buzz']);
});

test('a model answers, and reports its usage', async () => {
  const given: LanguageModel = scripted(says('{"n":1}'));
  const model = aiSdkModel(given as never);
  const schema = { parse: z.object({ n: z.number() }).parse, jsonSchema: { type: 'object' } } as never;
  expect(await model.generate({ system: 's', prompt: 'p', schema })).toEqual({
    value: { n: 1 },
    promptTokens: 7,
    completionTokens: 3,
    calls: 1,
  });
});
