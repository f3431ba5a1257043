// The embedder as it runs in the package, so that table and runtime can never split or look up words differently.

import { register } from 'tsx/esm/api';

register();
const builtin = new URL('../../src/providers/builtin/', import.meta.url);

export const { tokenize, findWord } = await import(new URL('tokenize.ts', builtin).href);
export const { builtinEmbedder } = await import(new URL('embedder.ts', builtin).href);
export const tableFile = new URL('table.bin', builtin);
