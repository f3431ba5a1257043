// Loaded before a command by NODE_OPTIONS: the clock of the process stands still at STILL_CLOCK.
const RealDate = Date;

/** Has the clock of this process stand still, or go on. */
export function standStill(now) {
  globalThis.Date = now === undefined ? RealDate : stillDate(now);
}

const stillDate = (now) =>
  class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [now] : given));
    }
    static now() {
      return now;
    }
  };

if (process.env.STILL_CLOCK) standStill(Number(process.env.STILL_CLOCK));
