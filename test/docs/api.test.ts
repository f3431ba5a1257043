import { expect, test } from 'vitest';
import { apiReport } from './api-report.ts';
import { readPublicSurface } from './public-surface.ts';

// After an intended change of the surface, run ./run api, and commit what it writes.
test('docs/reference/api.txt matches the public surface of the built package', async () => {
  await expect(apiReport(readPublicSurface())).toMatchFileSnapshot('../../docs/reference/api.txt');
});
