import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restoreSpace } from '../../src/index.ts';
import { createMcpMount } from '../../src/mcp/http.ts';
import { loadDriver } from '../../src/stores/sqlite/driver.ts';
import { createSqliteStore } from '../../src/stores/sqlite/index.ts';
import { startTestServer } from './fixture.ts';

const canary = 'Quixotrywobbegong';

describe('forgetting over HTTP', () => {
  it('keeps no answer that would tell it again, whichever process forgot', async () => {
    await using server = await startTestServer();
    const memory = await server.space();
    const token = await server.token();
    const ask = (method: string, path: string, key: string, body?: object) =>
      server.ask(method, path, { token, headers: { 'idempotency-key': key }, body });
    const said = await ask('POST', '/v1/memories', 'say', { id: 'a', content: `The word is ${canary}` });
    expect(said.status).toBe(200);
    const changed = await ask('PATCH', '/v1/memories/a', 'change', { content: `The word was ${canary}` });
    expect(changed.text).toContain(canary);
    const again = await ask('PATCH', '/v1/memories/a', 'change', { content: `The word was ${canary}` });
    expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    await memory.forget('a');
    for (const _ of [1, 2]) {
      const replayed = await ask('PATCH', '/v1/memories/a', 'change', { content: `The word was ${canary}` });
      expect(replayed).toMatchObject({ status: 410, json: { code: 'redacted' } });
      expect(replayed.text).not.toContain(canary);
    }
    expect(await memory.get('a')).toBeUndefined();
  });

  it('says that it is done where only the bytes wait to be erased, and does it once for a key', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'salience-erasing-'));
    using _ = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
    await using store = createSqliteStore({ directory, busyTimeout: 50 });
    const mcp = createMcpMount({ version: '1.2.3' });
    await using server = await startTestServer({
      spaces: { path: undefined, store },
      mount: { '/mcp': mcp.answer },
    });
    const memory = await server.space();
    const token = await server.token();
    await memory.rememberMany(
      ['a', 'b'].map((id) => ({ id, content: `The ${id} is ${canary}`, tags: ['old'] })),
    );
    const { DatabaseSync } = await loadDriver();
    const reader = new DatabaseSync((await memory.stats()).path as string, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM memory');
    const headers = { 'idempotency-key': 'k' };
    const forget = () => server.ask('POST', '/v1/forget', { token, headers, body: { tags: ['old'] } });
    const told = 'this is forgotten and no recall finds it, but its bytes are not erased yet';
    expect(await forget()).toMatchObject({
      status: 503,
      json: {
        code: 'store_busy',
        detail: expect.stringContaining(told),
        details: { written: true, erased: false },
      },
    });
    const params = { name: 'forget', arguments: { id: 'a' } };
    const accept = 'application/json, text/event-stream';
    const called = await server.ask('POST', '/mcp', {
      token,
      headers: { accept },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    });
    expect(called.text).toContain(told);
    reader.close();
    await memory.remember('Remembered since', { id: 'c', tags: ['old'] });
    expect(await forget()).toMatchObject({ status: 409, json: { code: 'already_exists' } });
    expect((await memory.list()).memories.map(({ id }) => id)).toEqual(['c']);
  });

  it('keeps no answer that names what is forgotten in whatever field, or that is of a space that was deleted', async () => {
    await using server = await startTestServer({ deleteSpaces: true });
    const memory = await server.space();
    const token = await server.token({ rights: 'admin' });
    const ask = (method: string, path: string, key: string, body?: object) =>
      server.ask(method, path, { token, headers: { 'idempotency-key': key }, body });
    const relation = { from: canary, to: 'Acme', name: 'works at' };
    await memory.rememberMany([canary, 'Acme'].map((title) => ({ type: 'entity', title, content: title })));
    const stated = () => ask('POST', '/v1/relations', 'relate', relation);
    const first = await stated();
    expect(first.status).toBe(200);
    expect(first.text).toContain(canary);
    expect((await stated()).text).toBe(first.text);
    const { memories } = await memory.list();
    await memory.forget(memories.filter(({ content }) => content.includes(canary)).map(({ id }) => id));
    expect(await stated()).toMatchObject({ status: 410, json: { code: 'redacted' } });
    const made = () => ask('POST', '/v1/memories', 'made', { id: 'made', content: `Made by ${canary}` });
    const before = await made();
    expect((await made()).text).toBe(before.text);
    server.clock.advance(1);
    expect((await server.ask('DELETE', '/v1/space?name=alice', { token })).status).toBe(200);
    await (await server.space()).remember('Another space of this name');
    expect(await made()).toMatchObject({ status: 410, json: { code: 'redacted' } });
  });

  it('gives no answer of a write that a restored space does not have', async () => {
    await using server = await startTestServer({ deleteSpaces: true });
    const memory = await server.space();
    const token = await server.token({ rights: 'admin' });
    const say = (id: string) =>
      server.ask('POST', '/v1/memories', {
        token,
        headers: { 'idempotency-key': id },
        body: { id, content: `The ${id} one` },
      });
    await memory.remember('The first one');
    const old = await say('old');
    const directory = mkdtempSync(join(tmpdir(), 'salience-restored-'));
    using _ = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
    const backup = join(directory, 'backup.db');
    await memory.backup(backup);
    server.clock.advance(1);
    expect((await say('new')).status).toBe(200);
    // A recall that counts use has no part in it.
    await memory.recall('the first one');
    expect(await say('new')).toMatchObject({ headers: { 'idempotency-replayed': 'true' } });
    expect((await server.ask('DELETE', '/v1/space?name=alice', { token })).status).toBe(200);
    await restoreSpace({ file: backup, to: server.directory });
    expect(await say('new')).toMatchObject({ status: 410, json: { code: 'redacted' } });
    await (await server.space()).remember('Another one, in its place');
    expect((await say('new')).status).toBe(410);
    expect(await say('old')).toMatchObject({ status: 200, text: old.text });
  });

  it('keeps an answer of which nothing was erased since, though its id was forgotten before and its words are ids', async () => {
    await using server = await startTestServer();
    const memory = await server.space();
    const token = await server.token();
    const headers = { 'idempotency-key': 'k' };
    await memory.rememberMany(['again', 'word'].map((id) => ({ id, content: `First ${id}` })));
    await memory.forget('again');
    const body = { id: 'again', content: 'Once more', title: 'word', tags: ['word'], topicKey: 'word' };
    const say = () => server.ask('POST', '/v1/memories', { token, headers, body });
    const change = () =>
      server.ask('PATCH', '/v1/memories/again', {
        token,
        headers: { 'idempotency-key': 'change' },
        body: { author: 'word', metadata: { id: 'word' } },
      });
    const [said, changed] = [await say(), await change()];
    expect([said.status, changed.status]).toEqual([200, 200]);
    await memory.forget('word');
    expect(await say()).toMatchObject({ status: 200, text: said.text });
    expect(await change()).toMatchObject({ status: 200, text: changed.text });
    await memory.forget('again');
    await memory.remember('Another one', { id: 'again' });
    expect([(await say()).status, (await change()).status]).toEqual([410, 410]);
  });

  it.each([
    ['what it replaces', { supersedes: ['old'] }],
    ['the end of a relation', { relations: [{ from: 'new', name: 'near', to: 'old' }] }],
  ])('keeps no answer that names what is forgotten as %s', async (_, more) => {
    await using server = await startTestServer();
    const memory = await server.space();
    await memory.remember('The old one', { id: 'old' });
    await memory.remember('The new one', { id: 'new', ...more });
    const token = await server.token();
    const headers = { 'idempotency-key': 'k' };
    const change = () =>
      server.ask('PATCH', '/v1/memories/new', { token, headers, body: { tags: ['changed'] } });
    const first = await change();
    expect(first).toMatchObject({ status: 200, json: more });
    expect((await change()).text).toBe(first.text);
    await memory.forget('old');
    expect(await change()).toMatchObject({ status: 410, json: { code: 'redacted' } });
  });

  it('gives the answer to a repeated forget again, also where it made something anew', async () => {
    const vector = () => Float32Array.of(1, 0);
    const embedder = { model: 'one', dimensions: 2, embed: async (texts: string[]) => texts.map(vector) };
    await using server = await startTestServer({ spaces: { embedder: embedder as never } });
    const memory = await server.space();
    const ids = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
    await memory.rememberMany(
      ids.map((id) => ({ id, type: 'event', content: `Went for a long run on ${id}` })),
    );
    const { consolidated } = await memory.maintain({ consolidate: ids });
    const token = await server.token();
    const headers = { 'idempotency-key': 'k' };
    const forget = () => server.ask('POST', '/v1/forget', { token, headers, body: { ids: ['Monday'] } });
    const first = await forget();
    const rebuilt = [consolidated[0]?.id];
    expect(first).toMatchObject({ status: 200, json: { forgotten: ['Monday'], rebuilt } });
    expect(await forget()).toMatchObject({ status: 200, text: first.text });
  });

  it('gives the answer to a repeated forget again', async () => {
    await using server = await startTestServer();
    await (await server.space()).rememberMany(['a', 'b'].map((id) => ({ id, content: id })));
    const token = await server.token();
    const headers = { 'idempotency-key': 'k' };
    const forget = () => server.ask('POST', '/v1/forget', { token, headers, body: { ids: ['a', 'b'] } });
    const first = await forget();
    expect(first).toMatchObject({ status: 200, json: { forgotten: ['a', 'b'], count: 2, erased: 'bytes' } });
    expect((await forget()).json).toEqual(first.json);
  });

  it('forgets by a filter, refuses an empty one and both ways at once', async () => {
    await using server = await startTestServer();
    const memory = await server.space();
    await memory.rememberMany([
      { id: 'a', content: 'One', tags: ['x'] },
      { id: 'b', content: 'Two' },
    ]);
    const writing = await server.token();
    const forget = (body: object) => server.ask('POST', '/v1/forget', { token: writing, body });
    expect(await forget({})).toMatchObject({ status: 400 });
    expect(await forget({ ids: ['a'], tags: ['x'] })).toMatchObject({ status: 400 });
    expect(await forget({ ids: ['a', 'never'] })).toMatchObject({ status: 404 });
    expect(await forget({ tags: ['x'], dryRun: true })).toMatchObject({ json: { count: 1, dryRun: true } });
    expect((await memory.list()).memories).toHaveLength(2);
    expect(await forget({ tags: ['x'] })).toMatchObject({ json: { forgotten: ['a'], dryRun: false } });
    const token = await server.token({ rights: 'read' });
    expect(await server.ask('POST', '/v1/forget', { token, body: { ids: ['b'] } })).toMatchObject({
      status: 403,
    });
  });

  it('stays within the scopes of a token, and tells of no others', async () => {
    await using server = await startTestServer();
    const memory = await server.space();
    const { sessionId } = await memory.startSession({ scope: 'team:a' });
    await memory.rememberMany([
      { id: 'mine', content: 'Mine', scope: 'team:a', sessionId },
      { id: 'theirs', content: 'Theirs', scope: 'team:b' },
      { id: 'below', content: 'Below', scope: 'team:a/project:p' },
      { id: 'copy', content: 'Mine', scope: 'team:b' },
    ]);
    server.clock.advance(2 * 86_400_000);
    await memory.startSession();
    expect((await memory.stats()).memories).toBe(5);
    const token = await server.token({ scopes: ['team:a'] });
    const forget = (body: object) => server.ask('POST', '/v1/forget', { token, body });
    expect(await forget({ ids: ['mine', 'theirs'] })).toMatchObject({ status: 404 });
    expect(await forget({ inScope: 'team:b' })).toMatchObject({ status: 403 });
    expect(await forget({ inScope: 'team:a', below: true })).toMatchObject({ status: 403 });
    const answer = await forget({ types: ['fact'] });
    expect(answer.json).toMatchObject({ forgotten: expect.arrayContaining(['mine']), mayStillSay: [] });
    expect(await memory.get('mine')).toBeUndefined();
    // The summary that was made of it lay in its scope.
    expect((await memory.list({ types: ['summary'] })).memories).toEqual([]);
    for (const id of ['theirs', 'below', 'copy']) expect(await memory.get(id)).toBeDefined();
  });
});

describe('deleting a space over HTTP', () => {
  it('takes an administrator, and the name of the space', async () => {
    await using server = await startTestServer({ deleteSpaces: true });
    const { directory } = server;
    const token = await server.token();
    await server.ask('POST', '/v1/memories', { token, body: { id: 'a', content: 'Secret' } });
    const remove = async (rights: 'write' | 'admin', name: string) =>
      server.ask('DELETE', `/v1/space${name}`, { token: await server.token({ rights }) });
    expect(await remove('write', '?name=alice')).toMatchObject({ status: 403 });
    expect(await remove('admin', '')).toMatchObject({ status: 400 });
    expect(await remove('admin', '?name=bob')).toMatchObject({ status: 400 });
    expect(readdirSync(directory).filter((name) => name.endsWith('.db'))).toHaveLength(1);
    expect(await remove('admin', '?name=alice')).toMatchObject({
      status: 200,
      json: { space: 'alice', outcome: 'deleted' },
    });
    expect(readdirSync(directory).filter((name) => name.includes('.db'))).toEqual([]);
  });

  it('is not offered by a server that was not told how', async () => {
    await using server = await startTestServer();
    const token = await server.token({ rights: 'admin' });
    expect(await server.ask('DELETE', '/v1/space?name=alice', { token })).toMatchObject({
      json: { code: 'unsupported' },
    });
  });
});
