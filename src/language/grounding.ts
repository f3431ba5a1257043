/** Turns a text into its content words: stems, without stop words. */
export type ContentWords = (text: string) => readonly string[];

/**
 * Words that only connect statements or give their order in time. If an analyzer removes more of them as stop words,
 * nothing is lost.
 */
const CONNECTING =
  'also additionally and as at before after afterwards again both but by currently during each earlier first formerly from ' +
  'however in instead last later moreover now of on once or originally previously respectively since still than that ' +
  'the then there until when where whereas which while who with';

const MONTHS =
  'january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec';

/** Negations, which most stop lists would remove. */
const DENIALS =
  /(?<![\p{L}\p{Nd}])(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\p{L}+n['’]t|nicht|kein\p{L}*|nie|niemals|pas|jamais|aucun\p{L}*|nunca|ninguno?|non|mai|nessun\p{L}*|ikke|aldri|niet|geen|não|inte|ingen)(?![\p{L}\p{Nd}])/giu;

/**
 * Returns the words, numbers and negations of a text that occur in none of its sources. Connecting words are ignored,
 * as are the parts of the dates at which the sources were learned.
 */
export function introducedWords(
  text: string,
  sources: readonly { readonly content: string; readonly learned: string }[],
  contentWords: ContentWords,
): readonly string[] {
  const known = new Set(
    [CONNECTING, MONTHS, ...sources.flatMap(({ content, learned }) => [content, learned])].flatMap((each) => [
      ...contentWords(each),
      ...plainWords(each),
    ]),
  );
  for (const { learned } of sources)
    for (const part of learned.match(/\d+/g) ?? []) known.add(String(Number(part)));
  const denied = new Set(sources.flatMap(({ content }) => denialsIn(content)));
  return [
    ...new Set([
      ...contentWords(text).filter((word) => !known.has(word)),
      ...denialsIn(text).filter(() => denied.size === 0),
    ]),
  ];
}

/** Returns words unstemmed, so that connecting words are recognised whether or not the analyzer stems them. */
function plainWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{Nd}]+/gu) ?? [];
}

function denialsIn(text: string): readonly string[] {
  return (text.match(DENIALS) ?? []).map((word) => word.toLowerCase());
}
