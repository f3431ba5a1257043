import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const testFiles = ['src', 'test'].flatMap((directory) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((file) => join(directory, file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.test.ts')),
);
/** What is put in the place of a module holds only where nothing has loaded that module before. */
const replacingModules = testFiles.filter((file) => /\bvi\.(mock|doMock)\(/.test(readFileSync(file, 'utf8')));

/** Small files of test/ start processes and servers, and take longest: at the end one of them would run alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/test/');
    return [...sorted.filter(isLong), ...sorted.filter((each) => !isLong(each))];
  }
}

const limits = {
  // Half of the time tests wait for processes that they have started.
  maxWorkers: 2,
  testTimeout: 300_000,
  hookTimeout: 300_000,
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Here alone: projects that extended this one would each run it again, a directory within the other's.
    globalSetup: ['test/temporary.ts'],
    ...limits,
    coverage: { include: ['src/**'] },
    projects: [
      {
        test: {
          ...limits,
          name: 'shared',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: replacingModules,
          // They share modules: to load and to warm up the engine for each file anew takes a third of their time.
          isolate: false,
        },
      },
      { test: { ...limits, name: 'isolated', include: replacingModules } },
    ],
  },
});
