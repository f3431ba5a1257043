// Runs commands one after the other in this process. To start Node.js and to compile the program takes most of the time of a
// short command. Each command has its own environment, directory and streams, and leaves nothing open behind.
import { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { run } from '../../dist/cli/run.js';
import { standStill } from './still-clock.mjs';

/** Beyond this, a command whose work is done would keep a process of its own alive. */
const MOST_MILLISECONDS_TO_END = 60_000;

/** All that keeps this process alive is the channel to the test. */
const isOpen = () => process.getActiveResourcesInfo().length > 1;

process.on('message', async ({ args, env, directory, clock, merges }) => {
  const outcome = { code: 0, stdout: '', stderr: '' };
  standStill(clock);
  replaceEnvironment(env);
  process.chdir(directory);
  setStream('stdin', Readable.from([]));
  for (const name of ['stdout', 'stderr'])
    setStream(
      name,
      collect((text) => (outcome[merges ? 'stdout' : name] += text)),
    );
  const warn = ({ name, message }) => process.stderr.write(`${name}: ${message}\n`);
  process.on('warning', warn);
  process.exitCode = undefined;
  await run(args);
  const started = performance.now();
  while (isOpen()) {
    if (performance.now() - started > MOST_MILLISECONDS_TO_END)
      throw new Error(`${args.join(' ')} left open: ${process.getActiveResourcesInfo()}`);
    await setTimeout(1);
  }
  process.off('warning', warn);
  outcome.code = process.exitCode ?? 0;
  process.send(outcome);
});
process.on('disconnect', () => process.exit());

function replaceEnvironment(env) {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

function setStream(name, value) {
  Object.defineProperty(process, name, { configurable: true, value });
}

function collect(keep) {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      keep(chunk.toString());
      done();
    },
  });
}
