import { type LanguageModel as AnyAiSdkModel, APICallError } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aiSdkModel } from './ai-sdk.ts';

const secretText = 'the treasure is buried under the old oak';
const colour = z.object({ colour: z.string() });
const request = { system: 'Name a colour.', prompt: secretText, schema: colour };

type Result = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;

const answer = (
  text: string,
  finish: Result['finishReason']['unified'] = 'stop',
  tokens: readonly [number, number] | [] = [11, 7],
): Result => ({
  content: [
    { type: 'reasoning', text: 'Let me think.' },
    { type: 'text', text },
  ],
  finishReason: { unified: finish, raw: finish },
  usage: {
    inputTokens: { total: tokens[0], noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: tokens[1], text: undefined, reasoning: undefined },
  },
  warnings: [],
});

const callError = (
  statusCode: number | undefined,
  isRetryable: boolean,
  headers: Record<string, string> = {},
) =>
  new APICallError({
    message: `sorry, sk-1234567890 cannot say ${secretText}`,
    url: 'https://provider.example/',
    requestBodyValues: { prompt: secretText },
    isRetryable,
    responseHeaders: headers,
    ...(statusCode === undefined ? {} : { statusCode }),
  });

/** A model that follows the script, and a language model on it that does not wait. */
function scripted(...script: readonly (Result | Error)[]) {
  let turn = 0;
  const mock = new MockLanguageModelV3({
    provider: 'mock',
    modelId: 'tiny',
    doGenerate: async () => {
      const step = script[turn++];
      if (step === undefined || step instanceof Error) throw step ?? new Error('the script is over');
      return step;
    },
  });
  const waits: number[] = [];
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);
  return { mock, waits, model: aiSdkModel(mock, { sleep, random: () => 0.5 }) };
}

describe('a model of the AI SDK', () => {
  it('is asked for the schema, and its tokens are counted', async () => {
    const { mock, model } = scripted(answer('{"colour":"red"}'));
    expect(model.name).toBe('ai-sdk:mock:tiny');
    expect(await model.generate({ ...request, maxOutputTokens: 50 })).toEqual({
      value: { colour: 'red' },
      promptTokens: 11,
      completionTokens: 7,
      calls: 1,
    });
    expect(mock.doGenerateCalls).toHaveLength(1);
    expect(mock.doGenerateCalls[0]).toMatchObject({
      temperature: 0,
      maxOutputTokens: 50,
      responseFormat: { type: 'json', schema: { type: 'object', required: ['colour'] } },
      prompt: [
        { role: 'system', content: expect.stringContaining('Name a colour.') },
        { role: 'user', content: [{ type: 'text', text: secretText }] },
      ],
    });
  });

  it('repairs an answer that is cut off', async () => {
    const { mock, model } = scripted(answer('{"col', 'length'), answer('{"colour":"red"}'));
    expect(await model.generate(request)).toMatchObject({
      value: { colour: 'red' },
      calls: 2,
      promptTokens: 22,
    });
    expect(mock.doGenerateCalls[1]?.prompt.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
  });

  it('may answer by the older specification', async () => {
    const old = {
      specificationVersion: 'v2',
      provider: 'old',
      modelId: 'm',
      doGenerate: async () => ({
        content: [{ type: 'text', text: '{"colour":"red"}' }],
        finishReason: 'stop',
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
        warnings: [],
      }),
    };
    expect(await aiSdkModel(old).generate(request)).toMatchObject({ promptTokens: 3, completionTokens: 4 });
  });

  it('may leave its tokens uncounted', async () => {
    const { model } = scripted(answer('{"colour":"red"}', 'stop', []));
    const { promptTokens, completionTokens } = await model.generate(request);
    expect(promptTokens).toBeGreaterThan(10);
    expect(completionTokens).toBe(4);
  });

  it('is retried if its provider says that this may help', async () => {
    const { model, waits } = scripted(
      callError(429, true, { 'Retry-After': '3' }),
      callError(undefined, true),
      answer('{"colour":"red"}'),
    );
    expect((await model.generate(request)).calls).toBe(3);
    expect(waits).toEqual([3000, 500]);
  });

  it.each([
    [
      'a refusal',
      callError(400, false),
      /failed with status 400\. The provider says: sorry, \[removed\] cannot say/,
    ],
    ['a wrong key', callError(401, false), /was refused \(401\): is the key of its provider right\?$/],
    ['a bug', new TypeError('x is not a function'), /failed\. The provider says: x is not a function/],
    ['a filter', answer('', 'content-filter'), /declined to answer/],
    ['no content', {} as Result, /gave no list "content"/],
  ])('fails at once on %s', async (_, step, message) => {
    const { model, mock } = scripted(step);
    const error = await model.generate(request).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'model_failed', message: expect.stringMatching(message) });
    const readable = JSON.stringify(error, Object.getOwnPropertyNames(error));
    for (const secret of [secretText, 'sk-1234567890']) expect(readable).not.toContain(secret);
    expect(mock.doGenerateCalls).toHaveLength(1);
  });

  it('receives the abort signal', async () => {
    const stop = new AbortController();
    let heard = false;
    const mock = new MockLanguageModelV3({
      doGenerate: ({ abortSignal }) =>
        new Promise(() => {
          abortSignal?.addEventListener('abort', () => {
            heard = true;
          });
          stop.abort();
        }),
    });
    await expect(aiSdkModel(mock).generate({ ...request, signal: stop.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(heard).toBe(true);
  });

  it('must be a model, not a name', () => {
    const name: AnyAiSdkModel = 'openai/gpt-4.1-mini';
    expect(() => aiSdkModel(name as never)).toThrow(/expected a model made by a provider of the AI SDK/);
    const model = new MockLanguageModelV3() as Exclude<AnyAiSdkModel, string>;
    expect(aiSdkModel(model).name).toBe('ai-sdk:mock-provider:mock-model-id');
  });
});
