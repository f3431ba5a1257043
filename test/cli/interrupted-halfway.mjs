// Loaded before a command by NODE_OPTIONS: Ctrl-C comes when its progress shows half of the work.
import './terminal.mjs';

const write = process.stderr.write.bind(process.stderr);
let isInterrupted = false;
process.stderr.write = (text, ...more) => {
  if (!isInterrupted && String(text).includes(' 50 %')) {
    isInterrupted = true;
    process.emit('SIGINT');
  }
  return write(text, ...more);
};
