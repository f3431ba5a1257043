/**
 * Simulation of a script on the engine: how retention, reinforcement, links and maintenance change memories over time.
 */

export {
  type Development,
  type LifeEvent,
  type Sample,
  type SimulateOptions,
  type Simulation,
  simulateLife,
} from './play.ts';
export { plotRetention } from './plot.ts';
export { type LifeScript, MOST_DAYS, parseLifeScript } from './script.ts';
