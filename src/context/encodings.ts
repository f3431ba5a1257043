/*
 * How texts are split before pairs are merged: the patterns of OpenAI's tokenizer (tiktoken_ext/openai_public.py).
 * Their `\s` is Unicode's White_Space, and the letters of their contractions match in any case.
 */
const SPACE = String.raw`\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
const UNCASED = String.raw`\p{Lm}\p{Lo}\p{M}`;
const CONTRACTION = "'(?:[sSſ]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE])";
const REST = [String.raw`[${SPACE}]*[\r\n]+`, `[${SPACE}]+(?![^${SPACE}])`, `[${SPACE}]+`];

/** The included vocabularies: `o200k_base` for GPT-4o and later models, `cl100k_base` for GPT-4 and 3.5. */
export const TOKEN_ENCODINGS = ['o200k_base', 'cl100k_base'] as const;
export type TokenEncoding = (typeof TOKEN_ENCODINGS)[number];

/**
 * How each encoding splits a text into pieces, and the module with its tokens. V8 takes a millisecond to compile such a
 * pattern, so it is created on demand.
 */
export const ENCODINGS: Readonly<
  Record<TokenEncoding, { pieces(): RegExp; load(): Promise<{ readonly PACKED: string }> }>
> = {
  o200k_base: {
    pieces: () =>
      patternOf(
        String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}${UNCASED}]*[\p{Ll}${UNCASED}]+(?:${CONTRACTION})?`,
        String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}${UNCASED}]+[\p{Ll}${UNCASED}]*(?:${CONTRACTION})?`,
        String.raw`\p{N}{1,3}`,
        String.raw` ?[^${SPACE}\p{L}\p{N}]+[\r\n/]*`,
        ...REST,
      ),
    load: () => import('./vocabularies/o200k-base.ts'),
  },
  cl100k_base: {
    pieces: () =>
      patternOf(
        CONTRACTION,
        String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`,
        String.raw`\p{N}{1,3}`,
        String.raw` ?[^${SPACE}\p{L}\p{N}]+[\r\n]*`,
        ...REST,
      ),
    load: () => import('./vocabularies/cl100k-base.ts'),
  },
};

function patternOf(...pieces: readonly string[]): RegExp {
  return new RegExp(pieces.join('|'), 'gu');
}
