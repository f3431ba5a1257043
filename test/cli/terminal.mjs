// Loaded before a command: its stderr is a terminal, and a second passes at each look at the clock, so that progress is drawn.
Object.defineProperty(process.stderr, 'isTTY', { value: true });
const now = performance.now.bind(performance);
let looks = 0;
performance.now = () => now() + 1000 * ++looks;
