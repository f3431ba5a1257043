// Loaded before a command by NODE_OPTIONS: Ctrl-C comes in the moment in which it looks which spaces there are.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { readdirSync } = fs;
let isInterrupted = false;
fs.readdirSync = (path, ...options) => {
  if (!isInterrupted && String(path).endsWith('watched')) {
    isInterrupted = true;
    process.emit('SIGINT');
  }
  return readdirSync(path, ...options);
};
syncBuiltinESMExports();
