import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { AppTypes } from '../../src/http/app-types.ts';
import { addInspectorRoutes } from '../../src/http/inspector.ts';
import { createInspectorSessions } from '../../src/http/inspector-sessions.ts';
import { SalienceError } from '../../src/index.ts';
import { startTestServer, type TestServer } from './fixture.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const built = `${root}dist/inspector`;
if (!existsSync(`${built}/index.html`)) {
  throw new Error(`${built} is missing: these tests ask for the built page; build it with ./run setup`);
}

function codeOf(url: string): string {
  return /#code=(.+)$/.exec(url)?.[1] as string;
}

function exchange(test: TestServer, code: unknown, headers: Readonly<Record<string, string>> = {}) {
  return test.ask('POST', '/inspector/session', { body: { code }, headers });
}

describe('the page of the inspector', () => {
  it('is served without a token, and runs nothing but its own files', async () => {
    await using test = await startTestServer();
    const page = await test.ask('GET', '/inspector/');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.headers['x-frame-options']).toBe('DENY');
    expect(page.headers['cross-origin-opener-policy']).toBe('same-origin');
    const policy = Object.fromEntries(
      String(page.headers['content-security-policy'])
        .split('; ')
        .map((each) => [each.slice(0, each.indexOf(' ')), each.slice(each.indexOf(' ') + 1)]),
    );
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|style="|\son\w+=|data:/);
    const { location = '' } = (await test.ask('GET', '/inspector')).headers;
    // As below a path of a proxy, which takes that path away.
    const at = (address: string) => new URL(location, address).href;
    expect(at('https://memory.example/inspector')).toBe('https://memory.example/inspector/');
    expect(at('https://tools.example/memory/inspector')).toBe('https://tools.example/memory/inspector/');
  });

  it('serves every file that was built, as it is, zipped and known', async () => {
    await using test = await startTestServer();
    const names = readdirSync(built).filter((name) => !name.startsWith('.'));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) {
      const file = readFileSync(`${built}/${name}`, 'utf8');
      const plain = await test.ask('GET', `/inspector/${name}`);
      expect(plain.text, name).toBe(file);
      expect(plain.headers['content-security-policy']).toContain("default-src 'none'");
      const etag = String(plain.headers.etag);
      const known = await test.ask('GET', `/inspector/${name}`, { headers: { 'if-none-match': etag } });
      expect([known.status, known.text]).toEqual([304, '']);
      const zipped = await test.ask('GET', `/inspector/${name}`, { headers: { 'accept-encoding': 'gzip' } });
      expect(zipped.headers['content-encoding']).toBe('gzip');
      const refusing = { 'accept-encoding': 'br;q=0.5, gzip;q=0' };
      const unzipped = await test.ask('GET', `/inspector/${name}`, { headers: refusing });
      expect(unzipped.headers).not.toHaveProperty('content-encoding');
    }
  });

  it('serves nothing else, whatever a path looks like', async () => {
    await using test = await startTestServer();
    for (const path of [
      '/inspector/missing.js',
      '/inspector/../package.json',
      '/inspector/%2e%2e/%2e%2e/package.json',
      '/inspector/..%2f..%2fpackage.json',
      '/inspector//etc/passwd',
      '/inspector/constructor',
      '/inspector/__proto__',
    ]) {
      const answer = await test.raw(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
      expect(answer, path).toMatch(/^HTTP\/1\.1 (?:401|404) /);
      expect(answer).not.toContain('"dependencies"');
    }
  });

  it('says which command builds it where it is missing', async () => {
    const app = new Hono<AppTypes>();
    const sessions = createInspectorSessions(() => 0);
    addInspectorRoutes(app, { sessions, body: { bytes: 100, timeout: 100 } }, '/nowhere');
    const answer = await app.request('/inspector/');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('npm run build');
  });

  it('is not there when it is turned off', async () => {
    await using test = await startTestServer({ inspector: false });
    expect((await test.ask('GET', '/inspector/')).status).toBe(401);
    expect(() => test.server.inspectorUrl({ space: 'alice' })).toThrow(/inspector: false/);
  });

  it('weighs little: 80 KB for the first view, 250 KB for all', () => {
    const { chunks } = JSON.parse(readFileSync(`${root}build/inspector.json`, 'utf8')) as {
      readonly chunks: readonly {
        readonly fileName: string;
        readonly entry?: string;
        readonly imports: readonly string[];
        readonly css: readonly string[];
      }[];
    };
    const filesOf = (name: string): readonly string[] => {
      const { imports = [], css = [] } = chunks.find(({ fileName }) => fileName === name) ?? {};
      return [name, ...css, ...imports.flatMap(filesOf)];
    };
    const entries = ['web/index.html', 'web/start.tsx', 'web/views/asked/view.tsx'].map((source) => {
      const found = chunks.find(({ entry }) => entry === source);
      if (!found) throw new Error(`${source} has no chunk`);
      return found.fileName;
    });
    const weight = (names: Iterable<string>) =>
      [...names].reduce((sum, name) => sum + gzipSync(readFileSync(`${built}/${name}`)).length, 0);
    expect(weight(new Set(['index.html', ...entries.flatMap(filesOf)]))).toBeLessThanOrEqual(80_000);
    expect(weight(readdirSync(built))).toBeLessThanOrEqual(250_000);
  });
});

describe('a code of the inspector', () => {
  it('is exchanged once, for a session of its rights', async () => {
    await using test = await startTestServer();
    await (await test.space()).remember('Prefers dark roast', { id: 'dark' });
    const url = test.server.inspectorUrl({ space: 'alice', rights: 'read' });
    expect(url).toMatch(new RegExp(`^${test.url}/inspector/#code=[\\w-]{43}$`));
    const first = await exchange(test, codeOf(url));
    expect(first.status).toBe(200);
    expect(first.headers['cache-control']).toBe('no-store');
    expect(first.json).toMatchObject({ space: 'alice', rights: 'read', name: 'inspector' });
    const { token } = first.json;
    expect((await test.ask('GET', '/v1/memories/dark', { token })).status).toBe(200);
    expect((await test.ask('DELETE', '/v1/memories/dark', { token })).status).toBe(403);
    expect((await exchange(test, codeOf(url))).status).toBe(401);
    expect(JSON.stringify(test.log)).not.toContain(codeOf(url));
    expect(JSON.stringify(test.log)).not.toContain(token);
  });

  it('is worth nothing after 60 seconds, and a session after 12 hours', async () => {
    await using test = await startTestServer();
    const late = codeOf(test.server.inspectorUrl({ space: 'alice' }));
    const early = codeOf(test.server.inspectorUrl({ space: 'alice' }));
    test.clock.advance(59_999);
    const { token } = (await exchange(test, early)).json;
    test.clock.advance(1);
    expect((await exchange(test, late)).status).toBe(401);
    test.clock.advance(12 * 3_600_000 - 2);
    expect((await test.ask('GET', '/v1/token', { token })).status).toBe(200);
    test.clock.advance(1);
    expect((await test.ask('GET', '/v1/token', { token })).status).toBe(401);
  });

  it('begins a session that its owner ends, with those in other spaces, and nobody else', async () => {
    await using test = await startTestServer();
    await (await test.space()).remember('Drinks tea');
    await (await test.space('bob')).remember('Hides tea');
    const begin = async () => {
      const url = test.server.inspectorUrl({ space: 'alice', rights: 'admin', everySpace: true });
      return (await exchange(test, codeOf(url))).json.token as string;
    };
    const statusOf = async (token: string) => (await test.ask('GET', '/v1/token', { token })).status;
    const [mine, other, stored] = [await begin(), await begin(), await test.token({ rights: 'read' })];
    const { token: inBob } = (
      await test.ask('POST', '/inspector/space', { body: { space: 'bob' }, token: mine })
    ).json;
    expect((await test.ask('DELETE', '/inspector/session')).status).toBe(401);
    expect((await test.ask('DELETE', '/inspector/session', { token: stored })).status).toBe(204);
    expect(await Promise.all([mine, other, stored, inBob].map(statusOf))).toEqual([200, 200, 200, 200]);
    const ended = await test.ask('DELETE', '/inspector/session', { token: inBob });
    expect([ended.status, ended.text]).toEqual([204, '']);
    expect(await Promise.all([mine, other, stored, inBob].map(statusOf))).toEqual([401, 200, 200, 401]);
    expect((await test.ask('DELETE', '/inspector/session', { token: mine })).status).toBe(401);
  });

  it('is refused where it was made up, is no text or comes from another page', async () => {
    await using test = await startTestServer();
    for (const code of ['', 'x', 7, null, {}, ['a'], '__proto__']) {
      expect((await exchange(test, code)).status).toBe(401);
    }
    expect((await test.ask('POST', '/inspector/session', { body: 'code=x' })).status).toBe(401);
    expect((await test.ask('POST', '/inspector/session')).status).toBe(401);
    // Anybody may send one, so a long one is not read.
    const long = await exchange(test, 'x'.repeat(5000));
    expect([long.status, long.json.detail]).toEqual([413, 'the body is longer than the limit of 4096 bytes']);
    const code = codeOf(test.server.inspectorUrl({ space: 'alice' }));
    expect((await exchange(test, code, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await exchange(test, code, { host: 'evil.example' })).status).toBe(403);
    expect((await exchange(test, code)).status).toBe(200);
  });

  it('is exchanged by one of many who try at once', async () => {
    await using test = await startTestServer();
    const code = codeOf(test.server.inspectorUrl({ space: 'alice' }));
    const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(test, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(401)]);
  });

  it('sees the scopes that it was made for alone', async () => {
    await using test = await startTestServer();
    const memory = await test.space();
    await memory.remember('of the shop', { id: 'shop', scope: 'project:shop' });
    await memory.remember('of the house', { id: 'house', scope: 'project:house' });
    const url = test.server.inspectorUrl({ space: 'alice', scopes: ['project:shop'] });
    const { token } = (await exchange(test, codeOf(url))).json;
    expect((await test.ask('GET', '/v1/memories/shop', { token })).status).toBe(200);
    expect((await test.ask('GET', '/v1/memories/house', { token })).status).toBe(404);
  });

  it('is made for known rights alone: a misspelt one would be a wider one', async () => {
    await using test = await startTestServer();
    const ask = test.server.inspectorUrl as (access?: unknown) => string;
    for (const [access, message] of [
      [{ space: 'alice', scope: ['project:shop'] }, /unknown option "scope" \(did you mean "scopes"\?\)/],
      [{ space: 'alice', everySpace: 'no' }, /everySpace: .*must be true or false/],
      [undefined, /inspectorUrl: expected an object of options/],
    ] as const) {
      expect(() => ask(access)).toThrow(message);
      expect(() => ask(access)).toThrow(SalienceError);
    }
  });

  it('is for the address by which browsers reach the server', async () => {
    await using test = await startTestServer({ publicUrl: 'https://memory.example' });
    const url = test.server.inspectorUrl({ space: 'alice' });
    expect(url).toMatch(/^https:\/\/memory\.example\/inspector\/#code=/);
    const outside = { host: 'memory.example', origin: 'https://memory.example' };
    expect((await exchange(test, codeOf(url), outside)).status).toBe(200);
    await expect(startTestServer({ publicUrl: 'memory.example' })).rejects.toThrow(/write https:/);
    await expect(startTestServer({ publicUrl: 'https://a.example/?b' })).rejects.toThrow(/write https:/);
  });
});

describe('a session of whoever runs the server', () => {
  type Access = Parameters<TestServer['server']['inspectorUrl']>[0];
  const sessionOf = async (test: TestServer, access: Access) =>
    (await exchange(test, codeOf(test.server.inspectorUrl(access)))).json.token as string;
  const enter = (test: TestServer, token: string | undefined, space: unknown) =>
    test.ask('POST', '/inspector/space', { body: { space }, ...(token === undefined ? {} : { token }) });
  const whole: Access = { space: 'alice', rights: 'admin', everySpace: true };

  it('goes to another space with the same rights, and no longer than it lasts', async () => {
    await using test = await startTestServer();
    await (await test.space()).remember('Drinks tea', { id: 'tea' });
    await (await test.space('bob')).remember('Hides tea', { id: 'hidden' });
    const first = await sessionOf(test, whole);
    test.clock.advance(3_600_000);
    const answer = await enter(test, first, 'bob');
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toMatchObject({ space: 'bob', rights: 'admin', everySpace: true });
    const { token } = answer.json;
    expect((await test.ask('GET', '/v1/memories/hidden', { token })).status).toBe(200);
    expect((await test.ask('GET', '/v1/memories/tea', { token })).status).toBe(404);
    expect((await test.ask('GET', '/v1/memories/tea', { token: first })).status).toBe(200);
    const { json: was } = await test.ask('GET', '/v1/token', { token: first });
    expect(answer.json.id).not.toBe(was.id);
    expect((await enter(test, token, 'alice')).json.space).toBe('alice');
    expect((await enter(test, token, 'x'.repeat(5000))).status).toBe(413);
    expect(JSON.stringify(test.log)).not.toContain(token);
    test.clock.advance(11 * 3_600_000 - 1);
    expect((await test.ask('GET', '/v1/token', { token })).status).toBe(200);
    test.clock.advance(1);
    expect((await test.ask('GET', '/v1/token', { token })).status).toBe(401);
    expect((await enter(test, token, 'alice')).status).toBe(401);
  });

  it('makes no space, and takes nothing that names none', async () => {
    await using test = await startTestServer();
    await (await test.space()).remember('Drinks tea');
    const token = await sessionOf(test, whole);
    for (const space of ['alise', '', '../alice', 7, null, ['alice'], '__proto__']) {
      expect((await enter(test, token, space)).status, JSON.stringify(space)).toBe(404);
    }
    expect((await test.ask('GET', '/v1/spaces', { token })).json.total).toBe(1);
  });

  it('is nobody else: what a token opens stays what it was made for', async () => {
    await using test = await startTestServer();
    await (await test.space()).remember('Drinks tea');
    await (await test.space('bob')).remember('Hides tea');
    const others = [
      await test.token({ rights: 'admin' }),
      await sessionOf(test, { space: 'alice', rights: 'admin' }),
      await sessionOf(test, { space: 'alice', rights: 'write', everySpace: true }),
      await sessionOf(test, { ...whole, scopes: ['project:x'] }),
    ];
    for (const token of others) {
      for (const space of ['alice', 'bob', 'nobody']) {
        const answer = await enter(test, token, space);
        expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
      }
    }
    expect((await enter(test, undefined, 'bob')).status).toBe(401);
    const token = await sessionOf(test, whole);
    const evil = { origin: 'https://evil.example' };
    const refused = await test.ask('POST', '/inspector/space', {
      body: { space: 'bob' },
      token,
      headers: evil,
    });
    expect(refused.status).toBe(403);
  });
});
