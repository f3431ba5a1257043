// Loaded before a server by NODE_OPTIONS: no wait takes long, and at its end it says how much was unread at most.
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';

const { setTimeout } = promises;
promises.setTimeout = (_, ...given) => setTimeout(1, ...given);
syncBuiltinESMExports();

const { stdout, stderr } = process;
const write = stdout.write.bind(stdout);
let most = 0;
stdout.write = (...given) => {
  const written = write(...given);
  most = Math.max(most, stdout.writableLength);
  return written;
};
process.on('exit', () => stderr.write(`most unread: ${most}\n`));
