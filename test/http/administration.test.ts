import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SalienceError } from '../../src/domain/errors.ts';
import { startTestServer, type TestServer } from './fixture.ts';

/** The session of an inspector that was opened with these rights. */
async function sessionOf(test: TestServer, access: Parameters<TestServer['server']['inspectorUrl']>[0]) {
  const [, code] = test.server.inspectorUrl(access).split('#code=');
  const { json } = await test.ask('POST', '/inspector/session', { body: { code } });
  return json.token as string;
}

describe('what administrators see', () => {
  it('are the tokens that open their space, without anything that opens it', async () => {
    await using test = await startTestServer();
    const admin = await test.token({ name: 'operator', rights: 'admin' });
    await test.token({ name: 'phone', scopes: ['project:x'], rights: 'read' });
    await test.token({ name: 'of bob', space: 'bob', rights: 'admin' });
    const answer = await test.ask('GET', '/v1/tokens', { token: admin });
    expect(answer.status).toBe(200);
    expect(answer.json.tokens).toHaveLength(2);
    expect(answer.json.tokens).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'operator', space: 'alice', rights: 'admin' }),
        expect.objectContaining({ name: 'phone', scopes: ['project:x'], rights: 'read' }),
      ]),
    );
    for (const each of answer.json.tokens) {
      expect(Object.keys(each).every((key) => key !== 'hash' && key !== 'token')).toBe(true);
    }
    expect(answer.text).not.toContain('bob');
    expect(answer.text).not.toContain(admin);
  });

  it('are the sizes of their own space, and of no other', async () => {
    await using test = await startTestServer();
    await (await test.space()).remember('Drinks tea');
    await (await test.space('bob')).remember('Hides tea');
    const token = await test.token({ rights: 'admin' });
    const answer = await test.ask('GET', '/v1/spaces', { token });
    expect(answer.json).toEqual({
      spaces: [{ name: 'alice', memories: 1, bytes: expect.any(Number) }],
      total: 1,
    });
    expect(answer.json.spaces[0].bytes).toBeGreaterThan(0);
  });

  it('tell an administrator of one space no message that may name files of the server', async () => {
    await using test = await startTestServer({
      async openSpace() {
        throw new SalienceError('store_corrupt', '/srv/memory/alice.db is damaged');
      },
    });
    const token = await test.token({ rights: 'admin' });
    const answer = await test.ask('GET', '/v1/spaces', { token });
    expect(answer.json.spaces).toEqual([
      { name: 'alice', failure: 'the server cannot do this now; see its log' },
    ]);
    expect(test.log).toMatchObject([{ failure: 'store_corrupt: /srv/memory/alice.db is damaged' }]);
  });

  it('are all spaces and tokens for whoever runs the server, page by page, with what is broken', async () => {
    await using test: TestServer = await startTestServer({
      async openSpace(name) {
        if (name === 's11') throw new SalienceError('store_corrupt', 's11 is damaged');
        return test.space(name);
      },
    });
    for (let number = 10; number < 32; number++) await (await test.space(`s${number}`)).remember('Tea');
    await test.token({ space: 's10', name: 'of s10' });
    const token = await sessionOf(test, { space: 's10', rights: 'admin', everySpace: true });
    const first = await test.ask('GET', '/v1/spaces', { token });
    expect(first.json.total).toBe(22);
    expect(first.json.spaces).toHaveLength(20);
    expect(first.json.spaces[0]).toMatchObject({ name: 's10', memories: 1 });
    expect(first.json.spaces[1]).toEqual({ name: 's11', failure: 's11 is damaged' });
    const rest = await test.ask('GET', '/v1/spaces?offset=20', { token });
    expect(rest.json.spaces.map(({ name }: { name: string }) => name)).toEqual(['s30', 's31']);
    expect((await test.ask('GET', '/v1/spaces?offset=-1', { token })).status).toBe(400);
    const other = await sessionOf(test, { space: 's12', rights: 'admin', everySpace: true });
    expect((await test.ask('GET', '/v1/tokens', { token: other })).json.tokens).toMatchObject([
      { name: 'of s10' },
    ]);
    const own = await sessionOf(test, { space: 's12', rights: 'admin' });
    expect((await test.ask('GET', '/v1/spaces', { token: own })).json.total).toBe(1);
    expect((await test.ask('GET', '/v1/tokens', { token: own })).json.tokens).toEqual([]);
  });

  it('are refused to everybody else, who learns nothing', async () => {
    await using test = await startTestServer();
    const tokens = [
      await test.token({ rights: 'read' }),
      await test.token({ rights: 'write' }),
      await test.token({ rights: 'admin', scopes: ['project:x'] }),
      await sessionOf(test, { space: 'alice', rights: 'write', everySpace: true }),
    ];
    for (const token of tokens) {
      for (const path of ['/v1/tokens', '/v1/spaces']) {
        const answer = await test.ask('GET', path, { token });
        expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
        expect(answer.json.detail).toContain('--rights admin');
      }
    }
    expect((await test.ask('GET', '/v1/tokens')).status).toBe(401);
    expect((await test.ask('GET', '/v1/spaces')).status).toBe(401);
  });

  it('are no tokens where the server knows no list of them', async () => {
    await using test = await startTestServer({
      tokens: { authenticate: async () => ({ ...grant, rights: 'admin' }) },
    });
    const answer = await test.ask('GET', '/v1/tokens', { token: 'any' });
    expect(answer.json).toMatchObject({ code: 'unsupported' });
  });
});

const grant = { id: 'a', name: 'a', space: 'alice', createdAt: '2026-01-01T00:00:00.000Z' } as const;

describe('the health of a space', () => {
  it('names what is worth knowing, and when it was last backed up', async () => {
    await using test = await startTestServer();
    const memory = await test.space();
    await memory.remember('Drinks tea');
    const token = await test.token({ rights: 'read' });
    const health = await test.ask('GET', '/v1/health', { token });
    expect(health.json).toEqual({
      warnings: ['no embedder: recalls go by words alone'],
      problems: [],
    });
    expect((await test.ask('GET', '/v1/stats', { token })).json).not.toHaveProperty('lastBackup');
    const folder = mkdtempSync(join(tmpdir(), 'salience-backup-'));
    await memory.backup(join(folder, 'copy.db'));
    await expect(memory.backup(join(folder, 'copy.db'))).rejects.toMatchObject({ code: 'already_exists' });
    rmSync(folder, { recursive: true });
    const { lastBackup } = (await test.ask('GET', '/v1/stats', { token })).json;
    expect(lastBackup).toBe(new Date(test.clock.now()).toISOString());
    expect((await test.ask('GET', '/v1/health', { token })).json.problems).toEqual([]);
  });

  it('counts the vectors that are missing, and asks whether the embedder works', async () => {
    let works = true;
    const embedder = {
      model: 'two',
      dimensions: 2,
      thresholds: { conflict: 1 },
      async embed(texts: readonly string[]) {
        if (!works) throw new Error('the plug is out');
        return texts.map((text) => (text.startsWith('odd') ? undefined : new Float32Array([1, 0])));
      },
    };
    await using test = await startTestServer({ spaces: { embedder: embedder as never } });
    const memory = await test.space();
    for (let index = 0; index < 10; index++) await memory.remember(`even ${index}`);
    const token = await test.token({ rights: 'read' });
    const health = async () => (await test.ask('GET', '/v1/health', { token })).json;
    expect(await health()).toEqual({ embedder: { model: 'two', dimensions: 2 }, warnings: [], problems: [] });
    await memory.remember('odd 1');
    expect((await health()).warnings).toEqual([]);
    await memory.remember('odd 2');
    expect((await health()).warnings).toEqual([
      'space alice has vectors for 10 of 12 memories: run salience reindex --space "alice". A memory that still has none afterwards has no word that the embedder knows',
    ]);
    works = false;
    expect((await health()).problems).toEqual([expect.stringContaining('the plug is out')]);
  });

  it('concerns the whole space', async () => {
    await using test = await startTestServer();
    const token = await test.token({ scopes: ['project:x'] });
    expect(await test.ask('GET', '/v1/health', { token })).toMatchObject({ status: 403 });
  });
});
