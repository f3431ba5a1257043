import type { MemoryRecord } from '../model/memory.ts';
import { createAnalyzer } from '../text/analyze.ts';

const words = createAnalyzer({ language: 'simple' });

/** Shorter statements mean too many other things once a word is added: "Ben quit", "Ben quit smoking". */
const FEWEST_WORDS = 4;

const ARTICLES = new Set(['a', 'an', 'the']);

/** What turns the words before it into their opposite, or into what was once so. */
const TURNING =
  /^(?:not?|never|none|nothing|neither|nor|without|cannot|\w+n['’]?t|until|till|unless|if|anymore|longer|before|former(?:ly)?|nicht|kein\w*|nie(?:mals)?|pas|jamais|nunca|nessuno|mai|ikke|niet|geen|bis|jusqu\w*|hasta)$/;

type Statement = Pick<MemoryRecord, 'content' | 'confidence'>;

/**
 * Whether one statement says all that another one says, at least as surely: the same words but for articles and
 * punctuation, or its words first and then more that does not take them back. Every number and name of the other one is
 * in it then. What is worded differently is never the same here: that takes a judge.
 */
export function saysAllOf(kept: Statement, other: Statement): boolean {
  if (kept.confidence < other.confidence) return false;
  const [long, short] = [wordsOf(kept.content), wordsOf(other.content)];
  if (short.length === 0 || !short.every((word, at) => word === long[at])) return false;
  const more = long.slice(short.length);
  return more.length === 0 || (short.length >= FEWEST_WORDS && !more.some((word) => TURNING.test(word)));
}

function wordsOf(content: string): readonly string[] {
  return words.analyze(content).filter((word) => !ARTICLES.has(word));
}
