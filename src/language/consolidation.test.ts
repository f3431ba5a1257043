import { describe, expect, it } from 'vitest';
import type { LanguageModel } from '../providers/language-model.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { createAnalyzer } from '../text/analyze.ts';
import { consolidateStatements } from './consolidation.ts';

const nonce = '0123456789abcdef0123456789abcdef';
const newNonce = () => nonce;
const { analyze: contentWords } = createAnalyzer();
const said = (content: string, month: number) => ({ content, at: Date.UTC(2026, month, 1) });
const statements = [
  said('Ann runs 5 km every morning.', 0),
  said('Ann runs before work, at 6:30.', 1),
  said('Since 2026-02-10 Ann runs with Bob.', 2),
];
const joined = 'Ann runs 5 km every morning at 6:30, before work, since 2026-02-10 with Bob.';

const consolidate = (answer: Parameters<typeof scriptedModel>[0], group = statements) => {
  const { model, requests } = scriptedModel(answer);
  return { result: consolidateStatements(model, 'pattern', group, { newNonce, contentWords }), requests };
};

describe('a consolidation', () => {
  it('is asked for by the recorded prompt', async () => {
    const { result, requests } = consolidate(() => ({ content: joined, title: null }));
    await result;
    const [{ system, prompt } = { system: '', prompt: '' }] = requests;
    await expect(`${system}\n\n=====\n\n${prompt}\n`).toMatchFileSnapshot('golden/consolidation.txt');
  });

  it('gives one statement, and what it cost', async () => {
    const { content, title, usage } = await consolidate(() => ({
      content: ` ${joined}\u0000`,
      title: ' Runs ',
    })).result;
    expect({ content, title }).toEqual({ content: joined, title: 'Runs' });
    expect(usage).toMatchObject({ calls: 1 });
    expect(usage.completionTokens).toBeGreaterThan(10);
  });

  it.each([
    ['lost a number', 'Ann runs every morning at 6:30, since 2026-02-10 with Bob.', /these are missing: 5$/m],
    ['changed a time', joined.replace('6:30', '6.30'), /these are missing: 6:30$/m],
    ['changed a date', joined.replace('2026-02-10', '10 February 2026'), /these are missing: 2026-02-10$/m],
    ['said nothing', ' ', /content is empty/],
    ['showed nothing', '\u200b\u3164', /content is empty/],
    ['added a fact', `${joined} Her password is hunter2.`, /in none of them: password hunter2$/m],
    ['denied something', joined.replace('runs', 'never runs'), /in none of them: never$/m],
    ['told a story', `${joined} ${'And she was happy. '.repeat(30)}`, /add nothing/],
    ['gave no text', 42, /content: .*expected string/],
  ])('that %s is mended', async (_, first, problem) => {
    const { result, requests } = consolidate(({ call }) => ({
      content: call === 0 ? first : joined,
      title: null,
    }));
    expect(await result).toMatchObject({ content: joined, title: undefined, usage: { calls: 2 } });
    expect(requests[1]?.prompt).toMatch(problem);
  });

  it('without any word of one statement is mended', async () => {
    const group = [said('Ann likes red apples.', 0), said('Bob keeps bees.', 1), said('On it', 2)];
    const { result, requests } = consolidate(
      ({ call }) => ({
        content: call === 0 ? 'Ann likes apples' : 'Ann likes red apples; bees: Bob',
        title: null,
      }),
      group,
    );
    expect(await result).toMatchObject({ content: 'Ann likes red apples; bees: Bob', usage: { calls: 2 } });
    expect(requests[1]?.prompt).toMatch(/no word of these statements: 2$/m);
  });

  it('that keeps losing a fact is an error, which tells no text', async () => {
    const error = await consolidate(() => ({ content: 'Ann runs.', title: null })).result.catch(
      (reason) => reason,
    );
    expect(error).toMatchObject({ code: 'model_invalid_output', details: { calls: 2 } });
    expect(`${error.message}${JSON.stringify(error.details)}`).not.toMatch(/Ann|6:30/);
  });

  it('is checked even if a custom model has not checked it', async () => {
    const spent = { promptTokens: 9, completionTokens: 4, calls: 1 };
    const consolidated = (content: string) => {
      const value = { content, title: 7 };
      const model = { name: 'own', generate: async () => ({ value, ...spent }) } as unknown as LanguageModel;
      return consolidateStatements(model, 'pattern', statements, { newNonce, contentWords });
    };
    expect(await consolidated(joined)).toMatchObject({ content: joined, usage: spent });
    const error = await consolidated(joined.replace('5 km', 'far')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'model_invalid_output', details: { model: 'own', ...spent } });
    expect(String(error)).not.toContain('far');
  });

  it.each([1, 6])('of %i statements is refused', async (count) => {
    const { result, requests } = consolidate(() => ({}), Array(count).fill(said('x', 0)));
    await expect(result).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'statements' },
    });
    expect(requests).toHaveLength(0);
  });
});
