/**
 * Tools for the tests of programs that use the engine.
 *
 * @module
 */

export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { type ScriptedModel, type ScriptedRequest, scriptedModel } from './scripted-model.ts';
export { type MakeStore, type StoreContractOptions, storeContract } from './store-contract.ts';
export { verifyExplanation } from './verify-explanation.ts';
