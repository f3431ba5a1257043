import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { checkedEmbedder } from './checked-embedder.ts';
import type { Embedder, EmbedderInput } from './embedder.ts';

/** Which embedder to use: a built-in one by its name, none, or your own. */
export type EmbedderChoice = 'builtin' | 'none' | EmbedderInput;

/**
 * Returns the chosen embedder, loaded on demand; `undefined` for `none`. Throws `unknown_embedder`, `invalid_argument`.
 */
export async function chooseEmbedder(choice: EmbedderChoice): Promise<Embedder | undefined> {
  if (typeof choice === 'object' && typeof choice?.embed === 'function') return checkedEmbedder(choice);
  if (choice === 'none') return undefined;
  if (choice === 'builtin') {
    const { builtinEmbedder } = await import('./builtin/embedder.ts');
    return builtinEmbedder();
  }
  throw new SalienceError(
    'unknown_embedder',
    `unknown embedder ${describe(choice)}: use "builtin", "none", or one that openAiCompatibleEmbedder({ baseUrl, model }) makes`,
    { details: { embedder: choice } },
  );
}
