import type { Expression } from '../operators/index.ts';
import type { ProfileDefinition } from '../profile.ts';
import { recencyPart } from './shared.ts';

const words = { weight: { op: 'param', name: 'weights.context' }, of: { op: 'ref', name: 'words' } } as const;
const meaning = {
  weight: { op: 'param', name: 'weights.similarity' },
  of: { op: 'ref', name: 'calibrated' },
} as const;
const session = {
  weight: { op: 'param', name: 'weights.session' },
  of: { op: 'signal', name: 'sessionLexical' },
} as const;

/**
 * Combines words and meaning. An unknown signal is left out, and the others are divided by the sum of their own
 * weights.
 */
const match: Expression = {
  op: 'when',
  if: { known: 'sessionLexical' },
  then: {
    op: 'when',
    if: { known: 'similarity' },
    then: { op: 'mean', terms: [words, meaning, session] },
    else: { op: 'mean', terms: [words, session] },
  },
  else: {
    op: 'when',
    if: { known: 'similarity' },
    then: { op: 'mean', terms: [words, meaning] },
    else: { op: 'ref', name: 'words' },
  },
};

/** Computes (1 + weight · cue) / (1 + weight) if the cue is known, else 1. */
function cue(signal: 'authorNamed' | 'dateMatch' | 'saidByUser', parameter: string): Expression {
  return {
    op: 'when',
    if: { known: signal },
    then: {
      op: 'mean',
      terms: [
        { weight: 1, of: 1 },
        { weight: { op: 'param', name: parameter }, of: { op: 'signal', name: signal } },
      ],
    },
    else: 1,
  };
}

const relevance = [
  { op: 'ref', name: 'match' },
  { op: 'ref', name: 'author' },
  { op: 'ref', name: 'date' },
  { op: 'ref', name: 'speaker' },
] as const;

/**
 * Words and meaning together, including the words of the neighbouring turns and of the session. Raised if author, date
 * or speaker match the query; adjusted by recency, importance, confidence and possible updates. The adjustment is
 * bounded: a memory whose relevance is more than 6 % lower never ranks above.
 */
export const hybrid: ProfileDefinition = {
  name: 'hybrid',
  description:
    'The default: words in their context and meaning together, and who and when the query names; gently preferring what is recent, important and sure.',
  source:
    'Salience. A fixed convex mix keeps scores comparable between queries, which rank fusion does not. Cues multiply, so that a cue alone makes nothing relevant. The constants and what they were measured on are in docs/decisions/0063-words-in-context.md',
  parameters: {
    'weights.context': {
      kind: 'number',
      default: 7,
      min: 0,
      description: 'Share of words, those of the turns around included.',
    },
    'weights.similarity': { kind: 'number', default: 5, min: 0, description: 'Share of meaning.' },
    'weights.session': {
      kind: 'number',
      default: 3.6,
      min: 0,
      description: 'Share of the words of the whole session.',
    },
    'cues.author': {
      kind: 'number',
      default: 0.2,
      min: 0,
      description: 'What being said by the author whom the query names adds, as a share.',
    },
    'cues.date': {
      kind: 'number',
      default: 1,
      min: 0,
      description: 'What being made at the date that the query names adds, as a share.',
    },
    'cues.role': {
      kind: 'number',
      default: 0.15,
      min: 0,
      description: 'What being said by the user adds, as a share.',
    },
    similarityFloor: {
      kind: 'number',
      default: 0.1,
      min: -1,
      max: 1,
      from: 'calibration.floor',
      description: 'Cosine of the embedder that counts as nothing.',
    },
    similaritySpan: {
      kind: 'number',
      default: 0.8,
      min: 1e-6,
      max: 2,
      from: 'calibration.span',
      description: 'Cosine above the floor at which similarity counts in full.',
    },
  },
  parts: {
    calibrated: {
      op: 'capped',
      of: {
        op: 'sum',
        terms: [
          { weight: 1, of: { op: 'signal', name: 'similarity', missing: 0 } },
          { weight: -1, of: { op: 'param', name: 'similarityFloor' } },
        ],
      },
      cap: { op: 'param', name: 'similaritySpan' },
    },
    words: {
      op: 'when',
      if: { known: 'contextLexical' },
      then: { op: 'signal', name: 'contextLexical' },
      else: { op: 'signal', name: 'lexical' },
    },
    match,
    author: cue('authorNamed', 'cues.author'),
    date: cue('dateMatch', 'cues.date'),
    speaker: cue('saidByUser', 'cues.role'),
    relevance: { op: 'product', of: relevance },
    recency: recencyPart,
    importance: { op: 'signal', name: 'importance' },
    confidence: { op: 'signal', name: 'confidence' },
  },
  score: {
    op: 'product',
    of: [
      // Factor by factor, so that one line can show them. The product of the first four is the relevance.
      ...relevance,
      {
        op: 'sum',
        terms: [
          { weight: 0.96, of: 1 },
          { weight: 0.01, of: { op: 'ref', name: 'recency' } },
          { weight: 0.015, of: { op: 'ref', name: 'importance' } },
          { weight: 0.015, of: { op: 'ref', name: 'confidence' } },
          { weight: -0.02, of: { op: 'signal', name: 'conflict' } },
        ],
      },
    ],
  },
};
