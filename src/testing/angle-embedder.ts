import type { Embedder } from '../providers/embedder.ts';

/**
 * Creates an embedder with predictable vectors: each known text is a direction in the plane, in degrees, so that the
 * similarity of two texts is the cosine of the angle between them. It knows no other texts.
 */
export function angleEmbedder(degrees: Readonly<Record<string, number>>): Embedder {
  return {
    model: 'angles-2',
    dimensions: 2,
    calibration: { floor: 0, ceiling: 1 },
    thresholds: { conflict: 0.75, birthLink: 0.4, consolidation: 0.7, similarPair: 0.85 },
    async embed(texts) {
      return texts.map((text) => {
        const angle = degrees[text];
        if (angle === undefined) return undefined;
        const radians = (angle * Math.PI) / 180;
        return Float32Array.of(Math.cos(radians), Math.sin(radians));
      });
    },
  };
}

/** The angle, in degrees, whose cosine this is. */
export function angleOf(cosine: number): number {
  return (Math.acos(cosine) * 180) / Math.PI;
}
