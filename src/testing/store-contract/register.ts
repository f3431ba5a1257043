import { describe, test } from 'vitest';
import type { MakeStore, StoreContractOptions } from '../store-contract.ts';
import { eligibilityTests } from './eligibility.ts';
import { findingTests } from './finding.ts';
import { forgettingTests } from './forgetting.ts';
import type { ContractTest } from './harness.ts';
import { linkTests } from './linking.ts';
import { listingTests } from './listing.ts';
import { logTests } from './log.ts';
import { lookingBackTests } from './looking-back.ts';
import { pairTests } from './pairing.ts';
import { recordingTests } from './recording.ts';
import { recordTests } from './records.ts';
import { searchTests } from './searching.ts';
import { sessionTests, tombstoneTests } from './sessions.ts';
import { spaceTests } from './spaces.ts';
import { supersedingTests } from './superseding.ts';
import { usageTests } from './using.ts';
import { votingTests } from './voting.ts';
import { writingTests } from './writing.ts';

const parts: readonly (readonly [title: string, tests: readonly ContractTest[]])[] = [
  ['records', recordTests],
  ['writing', writingTests],
  ['log', logTests],
  ['listing', listingTests],
  ['links', linkTests],
  ['similar pairs', pairTests],
  ['usage', usageTests],
  ['votes', votingTests],
  ['eligibility', eligibilityTests],
  ['searching', searchTests],
  ['looking up', findingTests],
  ['supersession', supersedingTests],
  ['sessions', sessionTests],
  ['tombstones', tombstoneTests],
  ['looking back', lookingBackTests],
  ['recording recalls', recordingTests],
  ['forgetting and reindexing', forgettingTests],
  ['spaces', spaceTests],
];

/** Milliseconds. Random histories on a slow store take longer than the five seconds of vitest. */
const LONGEST_TEST = 300_000;

export function registerStoreContract(
  name: string,
  makeStore: MakeStore,
  { skip = [] }: StoreContractOptions,
): void {
  const reasons = new Map(skip.flatMap(({ reason, tests }) => tests.map((title) => [title, reason])));
  for (const title of reasons.keys()) {
    if (!parts.some(([, tests]) => tests.some((each) => each.title === title))) {
      throw new Error(`the store contract has no test ${JSON.stringify(title)} to skip`);
    }
  }
  describe(`store contract: ${name}`, () => {
    for (const [part, tests] of parts) {
      describe(part, () => {
        for (const { title, run } of tests) {
          const reason = reasons.get(title);
          if (reason !== undefined) test.skip(`${title} (${reason})`);
          else {
            test(title, { timeout: LONGEST_TEST }, async () => {
              const { store, cleanup } = await makeStore();
              try {
                await run({ store, makeStore });
              } finally {
                await cleanup();
              }
            });
          }
        }
      });
    }
  });
}
