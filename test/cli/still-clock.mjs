// Loaded before a command by NODE_OPTIONS: the clock of the process stands still at STILL_CLOCK.
const now = Number(process.env.STILL_CLOCK);
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [now] : given));
  }
  static now() {
    return now;
  }
};
