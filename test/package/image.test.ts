import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { installPackedPackage } from './packed.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const dockerfile = readFileSync(join(deploy, 'Dockerfile'), 'utf8');
const { folder, remove } = installPackedPackage();
const data = mkdtempSync(join(tmpdir(), 'salience-image-'));
afterAll(() => {
  remove();
  rmSync(data, { recursive: true, force: true });
});

/** What the last instruction of this name says. */
const instruction = (name: string) => dockerfile.match(new RegExp(`^${name} (.+)$`, 'gm'))?.at(-1) ?? '';
const listed = (name: string) => JSON.parse(instruction(name).slice(name.length + 1)) as readonly string[];

/** Somebody who owns nothing but the data: the user `node` of the image, where this is not run by root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const modules = fileURLToPath(new URL('../../node_modules/hono/package.json', import.meta.url));
// A checkout in a folder of root's own can be read by nobody else: the command then runs as whoever runs the tests.
const asNobody =
  isRoot &&
  spawnSync(process.execPath, ['-e', `require('node:fs').readFileSync(${JSON.stringify(modules)})`], {
    uid: NOBODY,
    gid: NOBODY,
  }).status === 0;

/** The very command of the image, in a folder in which the package is installed, at a free port. */
function start(more: readonly string[] = []) {
  const [, ...entry] = listed('ENTRYPOINT');
  const command = listed('CMD').map((each) => each.replace('/data', data));
  const child = spawn(process.execPath, [...entry, ...command, '--port', '0', ...more], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', NODE_ENV: 'production', SALIENCE_PATH: data },
    ...(asNobody ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const port = output.match(/serving http:\/\/0\.0\.0\.0:(\d+)/)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    child.on('exit', () => reject(new Error(output)));
  });
  return { child, url, output: () => output };
}

describe('the image', () => {
  it('serves as a user without rights, keeps what it is told, and writes its token into no log', async () => {
    if (asNobody) {
      chmodSync(folder, 0o755);
      chownSync(data, NOBODY, NOBODY);
    }
    let token = '';
    for (const round of [1, 2]) {
      const server = start();
      const url = await server.url;
      token ||= readFileSync(join(data, 'first-token'), 'utf8').trim();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      if (round === 1) {
        const body = JSON.stringify({ content: 'Prefers dark roast coffee' });
        const told = await fetch(`${url}/v1/memories`, { method: 'POST', headers, body });
        expect(told.status).toBe(200);
      }
      const body = JSON.stringify({ query: 'which coffee?' });
      const asked = await fetch(`${url}/v1/recall`, { method: 'POST', headers, body });
      expect(await asked.text()).toContain('dark roast');
      server.child.kill('SIGTERM');
      await once(server.child, 'exit');
      expect(server.child.exitCode).toBe(0);
      expect(server.output()).not.toContain(token);
    }
  });

  it('runs as another user than root, and asks itself whether it is ready at the port that it names', () => {
    expect(instruction('USER')).toBe('USER node');
    const port = instruction('EXPOSE').split(' ')[1];
    expect(dockerfile).toContain(`http://127.0.0.1:${port}/readyz`);
    expect(listed('ENTRYPOINT')[1]).toBe('node_modules/salience/dist/cli/main.cjs');
    expect(existsSync(join(folder, 'node_modules/salience/dist/cli/main.cjs'))).toBe(true);
  });

  it('is what the services are made of, whose secrets and volumes are declared and kept out of the repository', () => {
    const compose = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8'), { merge: true });
    const { services, secrets, volumes } = compose;
    for (const name of ['one', 'two']) {
      expect(services[name].build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' });
      expect(services[name].ports.every((each: string) => each.startsWith('127.0.0.1:'))).toBe(true);
    }
    for (const service of Object.values<{ secrets: string[]; volumes: string[] }>(services)) {
      for (const secret of service.secrets) expect(Object.keys(secrets)).toContain(secret);
      for (const volume of service.volumes) expect(Object.keys(volumes)).toContain(volume.split(':')[0]);
    }
    const ignored = readFileSync(join(deploy, '../.gitignore'), 'utf8').split('\n');
    const unsent = readFileSync(join(deploy, '../.dockerignore'), 'utf8').split('\n');
    for (const { file } of Object.values<{ file: string }>(secrets)) {
      expect(ignored).toContain(file.replace('./', 'deploy/'));
      expect(unsent).toContain(file.replace('./', 'deploy/'));
    }
  });
});
