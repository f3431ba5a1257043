import { expectTypeOf, test } from 'vitest';
import { type DateReader, type EmbedderInput, type OpenOptions, readEnglishDates } from '../index.ts';

test('an embedder of your own needs a model, its dimensions and a function', () => {
  const embedder: EmbedderInput = {
    model: 'mine-1',
    dimensions: 2,
    embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
  };
  expectTypeOf(embedder).toExtend<OpenOptions['embedder']>();
  const some: EmbedderInput = { ...embedder, thresholds: { conflict: 0.8 } };
  // @ts-expect-error a calibration has a floor and a ceiling
  const half: EmbedderInput = { ...embedder, calibration: { floor: 0.1 } };
  void [some, half];
});

test('a reader of dates can be written around the English one', () => {
  const reader: DateReader = async (text, context) =>
    text.includes('gestern')
      ? [{ text: 'gestern', start: context.now - 86_400_000, end: context.now }]
      : readEnglishDates(text, context);
  expectTypeOf(reader).toExtend<OpenOptions['dateReader']>();
});
