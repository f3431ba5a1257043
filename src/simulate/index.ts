/** A life played on the engine: what retention, reinforcement, links and maintenance make of memories over time. */

export {
  type Development,
  type LifeEvent,
  type Sample,
  type SimulateOptions,
  type Simulation,
  simulateLife,
} from './play.ts';
export { plotRetention } from './plot.ts';
export { type LifeScript, parseLifeScript } from './script.ts';
