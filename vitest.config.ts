import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    typecheck: {
      enabled: true,
      include: ['src/**/*.test-d.ts', 'test/**/*.test-d.ts'],
      tsconfig: './tsconfig.json',
    },
    globalSetup: ['test/temporary.ts'],
    // Half of the time tests wait for processes that they have started.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    coverage: { include: ['src/**'] },
  },
});
