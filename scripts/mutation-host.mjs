import { performance } from 'node:perf_hooks';
import { createVitest } from 'vitest/node';

/**
 * A long-running vitest: a child process of scripts/mutate.mjs, in the directory of the copy. On request, it runs test
 * files in a given order after a file has changed. It reports when each begins, so that the parent can kill one that
 * hangs. The files of a run share one worker and its modules, and the first failure ends the run.
 */

const asked = { files: [] };

/** In the order in which they were asked for. */
class AsAsked {
  shard(files) {
    return files;
  }
  sort(files) {
    const place = new Map(asked.files.map((file, at) => [file, at]));
    return [...files].sort((a, b) => place.get(a.moduleId) - place.get(b.moduleId));
  }
}

const begun = new Map();
const done = [];
const failed = [];
const reporter = {
  onTestModuleStart({ moduleId }) {
    begun.set(moduleId, performance.now());
    process.send({ begins: moduleId });
  },
  onTestModuleEnd(module) {
    if (module.state() === 'failed') failed.push(module.moduleId);
    // After a failure the others are skipped.
    if (module.state() !== 'passed') return;
    done.push({ file: module.moduleId, milliseconds: performance.now() - (begun.get(module.moduleId) ?? 0) });
  },
};

const vitest = await createVitest('test', {
  watch: false,
  isolate: false,
  fileParallelism: false,
  bail: 1,
  reporters: [reporter],
  setupFiles: [process.env.MUTATION_SETUP],
  sequence: { sequencer: AsAsked },
});
await vitest.standalone();
const specifications = new Map((await vitest.globTestSpecifications()).map((each) => [each.moduleId, each]));

process.on('message', async ({ changed, files }) => {
  for (const path of changed) vitest.invalidateFile(path);
  asked.files = files;
  begun.clear();
  done.length = 0;
  failed.length = 0;
  const { unhandledErrors } = await vitest.runTestSpecifications(
    files.map((file) => specifications.get(file)),
  );
  process.send({ ended: { failed: [...failed], done: [...done], errors: unhandledErrors.map(String) } });
});
process.on('disconnect', () => process.exit());
process.send({ tests: [...specifications.keys()] });
