/**
 * Tools for the tests of programs that use the engine.
 *
 * @module
 */

export { verifyExplanation } from './verify-explanation.ts';
