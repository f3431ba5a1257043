import { invalidArgument } from '../domain/check.ts';
import { clip } from '../domain/clip.ts';
import { isInvisible } from '../domain/statement.ts';
import { formatInstant } from '../domain/time.ts';
import type { LanguageModel, ModelUsage } from '../providers/language-model.ts';
import { askModel, cleanText, objectOutput } from './answer.ts';
import { fence, type NewNonce } from './fence.ts';
import { type ContentWords, introducedWords } from './grounding.ts';
import type { DatedStatement } from './verdicts.ts';

export const MOST_CONSOLIDATED = 5;

export interface ConsolidatedStatement {
  readonly content: string;
  readonly title: string | undefined;
  readonly usage: ModelUsage;
}

const instructions = `You look after the memory of an assistant. You join similar remembered statements into one that replaces them all.

- Keep every fact. What only one of them says must still be there; what several say is said once.
- Add nothing, and draw no conclusions.
- Copy every number, date, name, address, quotation and piece of code exactly as it is written.
- If they differ because something changed, say both, with when.
- Write in the language of the statements, complete in itself, as short as that allows.

content is the joined statement. title is at most eight words, or null.`;

/**
 * Merges two to five similar statements of one type into one that keeps every fact and adds none. Two kinds of answers
 * are refused: one that lacks a number of the statements, or lacks every word of one of them, has lost a fact; one with
 * a word, number, name or negation that none of them has adds something. The model is then asked again; after that,
 * `model_invalid_output` is thrown. Also throws `model_failed` and `aborted`. A title that adds something is dropped.
 */
export async function consolidateStatements(
  model: LanguageModel,
  type: string,
  statements: readonly DatedStatement[],
  options: {
    readonly newNonce: NewNonce;
    /** Returns the content words of a text, in the language of the analyzer. */
    readonly contentWords: ContentWords;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ConsolidatedStatement> {
  if (statements.length < 2 || statements.length > MOST_CONSOLIDATED) {
    throw invalidArgument('statements', `2 to ${MOST_CONSOLIDATED} are needed, not ${statements.length}`);
  }
  const { z } = await import('zod');
  const sources = statements.map(({ content, at }) => ({ content, learned: formatInstant(at) }));
  const introduced = (text: string) => introducedWords(text, sources, options.contentWords);
  const data = fence(
    'statements',
    statements.map(({ content, at }) => ({ learned: formatInstant(at), statement: content })),
    options.newNonce(),
  );
  const schema = objectOutput(
    z.object({ content: z.string(), title: z.string().nullable().catch(null) }),
    ({ content }) => {
      checkNothingLost(cleanText(content), statements, options.contentWords);
      checkNothingAdded(introduced(cleanText(content)));
    },
  );
  const request = {
    system: `${instructions}\n\n${data.rule}`,
    prompt: `${data.block}\n\nJoin the ${statements.length} statements above, which are memories of the type ${JSON.stringify(type)}.`,
    schema,
    signal: options.signal,
  };
  const { value, ...usage } = await askModel(model, request, schema.parse);
  const title = clip(cleanText(value.title ?? ''), 200);
  return {
    content: cleanText(value.content),
    title: title === '' || introduced(title).length > 0 ? undefined : title,
    usage,
  };
}

/** Returns the numbers of a text as written: amounts, versions, times, dates. */
function numbersIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\p{Nd}+(?:[.,:/-]\p{Nd}+)*/gu) ?? []);
}

function checkNothingLost(
  joined: string,
  statements: readonly DatedStatement[],
  contentWords: ContentWords,
): void {
  if (isInvisible(joined)) throw new Error('content is empty');
  const kept = numbersIn(joined);
  const lost = [...numbersIn(statements.map(({ content }) => content).join('\n'))].filter(
    (each) => !kept.has(each),
  );
  if (lost.length > 0) {
    throw new Error(
      `content must keep every number exactly as it is written; these are missing: ${lost.join(' ')}`,
    );
  }
  // Even a reworded statement shares a word with the answer, because the answer may only use words of the statements.
  const words = new Set(contentWords(joined));
  const dropped = statements.flatMap(({ content }, at) => {
    const own = contentWords(content);
    return own.length > 0 && !own.some((word) => words.has(word)) ? [at + 1] : [];
  });
  if (dropped.length > 0) {
    throw new Error(`content must keep every fact; it has no word of these statements: ${dropped.join(' ')}`);
  }
  const total = statements.reduce((sum, { content }) => sum + content.length, 0);
  // If it is longer than all statements together, with room for connecting words, something was added.
  if (joined.length > total * 1.5 + 200) throw new Error('content is longer than what it joins: add nothing');
}

function checkNothingAdded(introduced: readonly string[]): void {
  if (introduced.length === 0) return;
  throw new Error(
    `content must say only what the statements say, in their words; these are in none of them: ${introduced.slice(0, 20).join(' ')}`,
  );
}
