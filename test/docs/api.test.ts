import { expect, test } from 'vitest';
import { apiReport } from './api-report.ts';
import { readPublicSurface } from './public-surface.ts';

// When the surface was meant to change: ./run api, and commit what it writes.
test('docs/reference/api.txt is the public surface of the built package', async () => {
  await expect(apiReport(readPublicSurface())).toMatchFileSnapshot('../../docs/reference/api.txt');
});
