import { cosine } from '../scoring/similarity.ts';
import { findRuns, splitRun } from '../text/words.ts';
import { type ContextCandidate, textOf } from './candidate.ts';

/** When two memories say the same. */
export interface DuplicateThresholds {
  /** Cosine of two vectors. Default is .97. */
  readonly cosine?: number | undefined;
  /** Share of the words of both that both have (Jaccard), for memories without vectors. Default is .8. */
  readonly words?: number | undefined;
}

export interface NearDuplicate {
  readonly id: string;
  /** The memory that is kept in its place. */
  readonly of: string;
  readonly by: 'cosine' | 'words';
  /** 0–1, at or above the threshold. */
  readonly similarity: number;
}

export interface WithoutDuplicates<Candidate extends ContextCandidate> {
  readonly kept: readonly Candidate[];
  readonly duplicates: readonly NearDuplicate[];
}

const DEFAULT_COSINE = 0.97;
const DEFAULT_WORDS = 0.8;

/** Words that turn a statement around; each text must have as many of them for two to say the same. */
const NEGATION =
  /^(?:no|not|never|none|neither|nor|nobody|nothing|without|cannot|.+n't|nicht|kein.*|nie|ne|pas|jamais|non|nunca)$/;

/** The dimensions after which a cosine that cannot reach the threshold is given up. */
const STEP = 32;

interface Content {
  readonly words: ReadonlySet<string>;
  /** What must not differ: numbers, and how often something is denied. */
  readonly facts: string;
  /** The length of what is left of the vector from each step on. */
  readonly rests: readonly number[];
}

/**
 * Leaves out every memory that says the same as a better one.
 *
 * Each is compared with those kept before it: by the cosine of their vectors where both have one, else by their words.
 * Memories with different numbers, or of which one denies something, are never the same: vectors hardly see either.
 *
 * @param ranked best first, as {@link compareCandidates} orders them. Must-includes are always kept.
 */
export function removeNearDuplicates<Candidate extends ContextCandidate>(
  ranked: readonly Candidate[],
  thresholds: DuplicateThresholds = {},
): WithoutDuplicates<Candidate> {
  const kept: Candidate[] = [];
  const contents: Content[] = [];
  const duplicates: NearDuplicate[] = [];
  const segmenter = lazySegmenter();
  for (const candidate of ranked) {
    const content = contentOf(candidate, segmenter);
    const duplicate =
      candidate.mustInclude === true ? undefined : firstAlike(candidate, content, kept, contents, thresholds);
    if (duplicate) {
      duplicates.push(duplicate);
    } else {
      kept.push(candidate);
      contents.push(content);
    }
  }
  return { kept, duplicates };
}

function firstAlike(
  candidate: ContextCandidate,
  content: Content,
  kept: readonly ContextCandidate[],
  contents: readonly Content[],
  thresholds: DuplicateThresholds,
): NearDuplicate | undefined {
  for (const [at, other] of kept.entries()) {
    const otherContent = contents[at]!;
    if (content.facts !== otherContent.facts) continue;
    const [a, b] = [candidate.vector, other.vector];
    const byCosine = a !== undefined && b !== undefined && a.length === b.length;
    const threshold = byCosine ? (thresholds.cosine ?? DEFAULT_COSINE) : (thresholds.words ?? DEFAULT_WORDS);
    if (byCosine && !canReach(threshold, a, b, content.rests, otherContent.rests)) continue;
    const similarity = byCosine ? cosine(a, b) : overlapFrom(content.words, otherContent.words, threshold);
    if (similarity >= threshold) {
      return { id: candidate.id, of: other.id, by: byCosine ? 'cosine' : 'words', similarity };
    }
  }
  return undefined;
}

function contentOf(candidate: ContextCandidate, segmenter: () => Intl.Segmenter): Content {
  const text = textOf(candidate).normalize('NFKC').toLowerCase().replace(/[‘’]/g, "'");
  const words = findRuns(text).flatMap((run) => splitRun(run, segmenter));
  const numbers = text.match(/\p{N}+(?:[.,:/-]\p{N}+)*/gu) ?? [];
  const denials = words.filter((word) => NEGATION.test(word)).length;
  return {
    words: new Set(words.length > 0 ? words : [text]),
    facts: `${denials} ${numbers.sort().join(' ')}`,
    rests: candidate.vector === undefined ? [] : restsOf(candidate.vector),
  };
}

function restsOf(vector: Float32Array): readonly number[] {
  const rests: number[] = [];
  let sum = 0;
  for (let at = vector.length - 1; at >= 0; at--) {
    sum += vector[at]! * vector[at]!;
    if (at % STEP === 0) rests[at / STEP] = Math.sqrt(sum);
  }
  return rests;
}

/** False when the cosine of two unit vectors is below the threshold (Cauchy and Schwarz on what is left of them). */
function canReach(
  threshold: number,
  a: Float32Array,
  b: Float32Array,
  restsOfA: readonly number[],
  restsOfB: readonly number[],
): boolean {
  let dot = 0;
  for (let start = 0; start < a.length; start += STEP) {
    const rest = restsOfA[start / STEP]! * restsOfB[start / STEP]!;
    if (dot + rest < threshold - 1e-6) return false;
    const end = Math.min(a.length, start + STEP);
    for (let at = start; at < end; at++) dot += a[at]! * b[at]!;
  }
  return true;
}

/** The Jaccard coefficient of two sets; 0 as soon as it cannot reach the threshold. */
function overlapFrom(a: ReadonlySet<string>, b: ReadonlySet<string>, threshold: number): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  // |A∩B| ≥ t·|A∪B| is |A∩B| ≥ t/(1+t)·(|A|+|B|).
  let misses = small.size - (threshold / (1 + threshold)) * (small.size + large.size) + 1e-9;
  if (misses < 0) return 0;
  let shared = 0;
  for (const word of small) {
    if (large.has(word)) shared += 1;
    else if (--misses < 0) return 0;
  }
  return shared / (small.size + large.size - shared);
}

function lazySegmenter(): () => Intl.Segmenter {
  let segmenter: Intl.Segmenter | undefined;
  return () => {
    // A fixed locale: the machine's own must not change the words.
    segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
    return segmenter;
  };
}
