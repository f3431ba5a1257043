import { invalidArgument, number, text, wholeNumber } from '../domain/check.ts';
import { onlyKeys } from '../domain/options.ts';
import type { Calibration, Embedder, SimilarityThresholds } from './embedder.ts';

const THRESHOLDS = {
  conflict: 0.75,
  birthLink: 0.4,
  consolidation: 0.7,
  similarPair: 0.85,
} as const satisfies SimilarityThresholds;

/**
 * An embedder that a program brings, with the defaults of what it leaves out. Throws `invalid_argument`, which names what is
 * wrong.
 */
export function checkedEmbedder(embedder: Embedder): Embedder {
  return {
    model: text(embedder.model, 'embedder.model', { maxCharacters: 1000 }),
    dimensions: wholeNumber(embedder.dimensions, 'embedder.dimensions', 1, 65_536),
    calibration: checkedCalibration(embedder.calibration, 'embedder.calibration'),
    thresholds: checkedThresholds(embedder.thresholds, 'embedder.thresholds'),
    embed: (texts, options) => embedder.embed(texts, options),
  };
}

export function checkedCalibration(
  calibration: Calibration = { floor: 0.2, ceiling: 0.9 },
  field = 'calibration',
): Calibration {
  onlyKeys(calibration, ['floor', 'ceiling', 'minRelevance'], field);
  const floor = number(calibration.floor, `${field}.floor`, -1, 1);
  const ceiling = number(calibration.ceiling, `${field}.ceiling`, -1, 1);
  if (floor >= ceiling) throw invalidArgument(field, 'floor must be below ceiling');
  const { minRelevance } = calibration;
  if (minRelevance === undefined) return { floor, ceiling };
  return { floor, ceiling, minRelevance: number(minRelevance, `${field}.minRelevance`, 0, 1) };
}

export function checkedThresholds(
  thresholds: Partial<SimilarityThresholds> = {},
  field = 'thresholds',
): SimilarityThresholds {
  const names = Object.keys(THRESHOLDS) as readonly (keyof SimilarityThresholds)[];
  onlyKeys(thresholds, names, field);
  const given = (name: keyof SimilarityThresholds) =>
    number(thresholds[name] ?? THRESHOLDS[name], `${field}.${name}`, -1, 1);
  return {
    conflict: given('conflict'),
    birthLink: given('birthLink'),
    consolidation: given('consolidation'),
    similarPair: given('similarPair'),
  };
}
