import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connectMemory } from '../../src/client/index.ts';
import { createWorkplace, type Workplace } from './cli.ts';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** `salience inspect` until it is told to end, with its code exchanged for a session. */
async function inspect(work: Workplace, args: readonly string[] = [], user: { readonly uid?: number } = {}) {
  const child = spawn(
    process.execPath,
    [main, 'inspect', '--no-open', '--json', '--path', join(work.directory, 'memory'), ...args],
    { cwd: work.directory, stdio: ['ignore', 'pipe', 'inherit'], ...user },
  );
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = new URL((JSON.parse(line) as { readonly url: string }).url);
  const answer = await fetch(`${url.origin}/inspector/session`, {
    method: 'POST',
    body: JSON.stringify({ code: url.hash.slice('#code='.length) }),
  });
  const session = (await answer.json()) as { readonly token: string; readonly space: string };
  return {
    url,
    space: session.space,
    token: session.token,
    memory: await connectMemory({ url: url.origin, token: session.token }),
    async stop() {
      child.kill('SIGINT');
      return ((await once(child, 'close')) as [number | null])[0];
    },
  };
}

describe('salience inspect', () => {
  it('opens the space that it is given, to this machine alone', async () => {
    using work = createWorkplace();
    await work.salience(['remember', 'Prefers dark roast', '--id', 'dark', '--space', 'alice']);
    const inspected = await inspect(work, ['--space', 'alice']);
    expect(inspected.url.hostname).toBe('127.0.0.1');
    expect(await (await fetch(`${inspected.url.origin}/inspector/`)).text()).toContain('Salience inspector');
    expect(inspected.space).toBe('alice');
    await inspected.memory.update('dark', { title: 'Taste' });
    expect(await inspected.stop()).toBe(0);
    expect((await work.salience(['get', 'dark', '--space', 'alice'])).stdout).toContain('Taste');
  });

  it('lets nothing be changed with --read-only', async () => {
    using work = createWorkplace();
    await work.salience(['remember', 'Prefers dark roast', '--id', 'dark']);
    const { memory, stop } = await inspect(work, ['--read-only']);
    expect(await memory.get('dark')).toBeDefined();
    await expect(memory.update('dark', { title: 'Taste' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(memory.forget('dark')).rejects.toMatchObject({ code: 'forbidden' });
    await stop();
  });

  it.skipIf(process.platform === 'win32')('shows a store that cannot be written to', async () => {
    using work = createWorkplace();
    await work.salience(['remember', 'Prefers dark roast', '--id', 'dark', '--path', 'memory']);
    const path = join(work.directory, 'memory');
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o444);
    chmodSync(path, 0o555);
    for (const folder of [work.directory, join(work.directory, '..')]) chmodSync(folder, 0o755);
    // Nothing is forbidden to root, so the program runs as nobody.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const { memory, stop } = await inspect(work, [], nobody);
    expect((await memory.recall('roast')).hits).toHaveLength(1);
    await expect(memory.update('dark', { title: 'Taste' })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await stop()).toBe(0);
    chmodSync(path, 0o755);
  });

  it('shows whoever has the files the spaces and the tokens, and with --read-only neither', async () => {
    using work = createWorkplace();
    for (const space of ['alice', 'bob']) await work.salience(['remember', 'Tea', '--space', space]);
    await work.salience(['token', 'create', '--space', 'bob', '--name', 'phone']);
    const ask = async (inspected: Awaited<ReturnType<typeof inspect>>, path: string) => {
      const headers = { authorization: `Bearer ${inspected.token}` };
      const response = await fetch(`${inspected.url.origin}${path}`, { headers });
      return { status: response.status, text: await response.text() };
    };
    const whole = await inspect(work, ['--space', 'alice']);
    expect(JSON.parse((await ask(whole, '/v1/spaces')).text)).toMatchObject({
      spaces: [
        { name: 'alice', memories: 1 },
        { name: 'bob', memories: 1 },
      ],
    });
    const { text } = await ask(whole, '/v1/tokens');
    expect(JSON.parse(text).tokens).toMatchObject([{ name: 'phone', space: 'bob' }]);
    await whole.stop();
    const reading = await inspect(work, ['--space', 'alice', '--read-only']);
    for (const path of ['/v1/spaces', '/v1/tokens']) expect((await ask(reading, path)).status).toBe(403);
    await reading.stop();
  });

  it('makes no space that is not there', async () => {
    using work = createWorkplace();
    const { code, stderr } = await work.salience(['inspect', '--space', 'alcie', '--no-open']);
    expect(code).toBe(1);
    expect(stderr).toContain('alcie');
    expect((await work.salience(['spaces'])).stdout).not.toContain('alcie');
  });

  it('shows a memory that was made for it with --demo', async () => {
    using work = createWorkplace();
    const { memory, space, stop } = await inspect(work, ['--demo']);
    expect(space).toBe('demo');
    expect((await memory.stats()).memories).toBeGreaterThan(30);
    expect((await memory.recalls()).length).toBeGreaterThan(5);
    expect(await memory.conflicts()).not.toEqual([]);
    const { hits } = await memory.recall('which coffee goes into the espresso blend?');
    expect(hits[0]?.memory.id).toBe('blend');
    expect(await stop()).toBe(0);
    expect((await work.salience(['spaces'])).stdout).not.toContain('demo');
  });
});
