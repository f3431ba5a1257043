import { expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';

test.each(['explain', 'whyNot'] as const)('%s asks no model, and refuses options of one', async (verb) => {
  const { memory } = await live();
  await memory.remember('Plays the cello', { id: 'cello' });
  for (const [name, value] of Object.entries({ rerank: true, rerankTopK: 5 })) {
    const options = { query: 'cello', [name]: value };
    await expect(memory[verb]('cello', options)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(`${verb}: unknown option "${name}"`),
    });
  }
});
