import * as z from 'zod';
import { counted } from './quote.ts';
import { rememberedSchema, rememberedText } from './remembered.ts';
import { listOf } from './schemas.ts';
import { defineVerb } from './verb.ts';

const rememberedAll = z.object({ memories: listOf(rememberedSchema) });

export const remember = defineVerb('remember', {
  output: rememberedSchema,
  text: rememberedText,
});

export const rememberMany = defineVerb('rememberMany', {
  output: rememberedAll,
  text: ({ memories }) =>
    [
      counted(memories.length, 'statement'),
      ...rememberedSchema.shape.outcome.options.flatMap((outcome) => {
        const count = memories.filter((each) => each.outcome === outcome).length;
        return count === 0 ? [] : [`${count} ${outcome}`];
      }),
    ].join(', '),
});

export const importMemories = defineVerb('importMemories', {
  output: rememberedAll,
  text: ({ memories }) => `restored ${counted(memories.length, 'memory', 'memories')}`,
});
