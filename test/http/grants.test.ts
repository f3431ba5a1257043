import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { angleEmbedder } from '../../src/testing/angle-embedder.ts';
import { type Answer, startTestServer, type TestServer } from './fixture.ts';

let test: TestServer;
const contents = {
  everywhere: 'Tea is served at noon',
  mine: 'Tea for team a is green',
  theirs: 'Tea for team b is black',
  below: 'Tea for project x of team a is white',
};
const scopes = { everywhere: 'global', mine: 'team:a', theirs: 'team:b', below: 'team:a/project:x' };
let whole: string;
let scoped: string;
let reader: string;
beforeAll(async () => {
  test = await startTestServer();
  const memory = await test.space();
  for (const [id, content] of Object.entries(contents)) {
    await memory.remember(content, { id, scope: scopes[id as keyof typeof scopes] });
  }
  await memory.link('mine', 'theirs');
  await memory.link('theirs', 'everywhere');
  await (await test.space('bob')).remember('Bob hides tea in a drawer', { id: 'secret' });
  whole = await test.token();
  scoped = await test.token({ scopes: ['team:a'] });
  reader = await test.token({ rights: 'read' });
});
afterAll(() => test[Symbol.asyncDispose]());

const idsOf = (answer: Answer): readonly string[] =>
  (answer.json.hits ?? answer.json.memories).map(
    (each: { memory?: { id: string }; id: string }) => each.memory?.id ?? each.id,
  );
const stateOf = async () => {
  const { memories } = await (await test.space()).list();
  return memories.map(({ id, content, scope, accessCount }) => ({ id, content, scope, accessCount }));
};

describe('the space', () => {
  it('is that of the token, whatever the request says', async () => {
    for (const named of [
      { space: 'bob' },
      { user_id: 'bob' },
      { space: 'alice', user_id: 'bob' },
      { space: null },
    ]) {
      const recalled = await test.ask('POST', '/v1/recall', {
        token: whole,
        body: { query: 'tea', ...named },
      });
      expect(recalled).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    }
    expect((await test.ask('GET', '/v1/memories?space=bob', { token: whole })).status).toBe(403);
    expect((await test.ask('GET', '/v1/export?space=bob', { token: whole })).status).toBe(403);
    expect((await test.ask('GET', '/v1/memories/secret?space=bob', { token: whole })).status).toBe(403);
    expect((await test.ask('GET', '/v1/memories/secret', { token: whole })).status).toBe(404);
    const headers = { 'x-space': 'bob', 'salience-space': 'bob' };
    const listed = await test.ask('GET', '/v1/memories', { token: whole, headers });
    expect(listed.text).not.toContain('Bob');
  });

  it('may be repeated', async () => {
    const body = { query: 'tea', space: 'alice', user_id: 'alice' };
    expect((await test.ask('POST', '/v1/recall', { token: whole, body })).status).toBe(200);
  });

  it('of an import is that of the token too', async () => {
    const body = '{"content":"Imported for nobody else","id":"imported","space":"bob"}\n';
    const token = await test.token({ space: 'carol' });
    await test.ask('POST', '/v1/import', { token, body });
    expect(await (await test.space('bob')).get('imported')).toBeUndefined();
  });
});

describe('a token of scopes', () => {
  it('sees its scopes and their ancestors, as a recall from there does', async () => {
    const recalled = await test.ask('POST', '/v1/recall', {
      token: scoped,
      body: { query: 'tea', trace: true, limit: 10, association: { minimum: 0 } },
    });
    expect([...idsOf(recalled)].sort()).toEqual(['everywhere', 'mine']);
    expect(recalled.text).not.toContain('theirs');
    expect([...idsOf(await test.ask('GET', '/v1/memories', { token: scoped }))].sort()).toEqual([
      'everywhere',
      'mine',
    ]);
    const exported = await test.ask('GET', '/v1/export', { token: scoped });
    expect(
      exported.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id)
        .sort(),
    ).toEqual(['everywhere', 'mine', undefined]);
  });

  it.each(['team:b', 'team:a/project:x', 'team', 'team:ab'])('asks in vain from scope %s', async (scope) => {
    const recalled = await test.ask('POST', '/v1/recall', { token: scoped, body: { query: 'tea', scope } });
    expect(recalled).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    expect(
      (await test.ask('GET', `/v1/memories?scope=${encodeURIComponent(scope)}`, { token: scoped })).status,
    ).toBe(403);
    expect(
      (await test.ask('GET', `/v1/export?scope=${encodeURIComponent(scope)}`, { token: scoped })).status,
    ).toBe(403);
  });

  it('builds contexts of what it sees alone', async () => {
    const ask = (body: object) => test.ask('POST', '/v1/context', { token: scoped, body });
    const built = await ask({ query: 'tea', maxTokens: 1000 });
    expect(built.json.items.map((item: { id: string }) => item.id).sort()).toEqual(['everywhere', 'mine']);
    expect(built.text).not.toMatch(/black|white|theirs|below/);
    for (const id of ['theirs', 'below']) {
      const forced = await ask({ query: 'tea', maxTokens: 1000, mustInclude: [id] });
      expect(forced).toMatchObject({ status: 404, json: { code: 'not_found' } });
      expect(forced.text).not.toMatch(/black|white/);
    }
    expect((await ask({ query: 'tea', maxTokens: 1000, scope: 'team:b' })).status).toBe(403);
    for (const path of ['/v1/bootstrap', '/v1/pinned?format=xml&maxTokens=500']) {
      const answer = await test.ask('GET', path, { token: scoped });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toMatch(/black|white|theirs|below/);
    }
    expect((await test.ask('GET', '/v1/pinned?scope=team:b', { token: scoped })).status).toBe(403);
  });

  it('compares what it sees alone', async () => {
    const ask = (body: object) => test.ask('POST', '/v1/compare', { token: scoped, body });
    const answer = await ask({ query: 'tea', strategies: ['hybrid', 'bm25', 'lexical', 'ambient'] });
    expect(answer.status).toBe(200);
    expect(answer.json.rankings).toHaveLength(4);
    for (const { strategy, hits } of answer.json.rankings) {
      expect(hits.map(({ memory }: { memory: { id: string } }) => memory.id).sort(), strategy).toEqual([
        'everywhere',
        'mine',
      ]);
    }
    expect(answer.text).not.toMatch(/black|white|theirs|below/);
    expect((await ask({ query: 'tea', scope: 'team:b' })).status).toBe(403);
  });

  it.each(['theirs', 'below'])('does not find the memory %s by any verb', async (id) => {
    const before = await stateOf();
    const tries: readonly (readonly [string, string, unknown?])[] = [
      ['GET', `/v1/memories/${id}`],
      ['PATCH', `/v1/memories/${id}`, { content: 'taken over', scope: 'team:a' }],
      ['DELETE', `/v1/memories/${id}`],
      ['PUT', `/v1/memories/${id}/importance`, { importance: 1 }],
      ['POST', `/v1/memories/${id}/feedback`, { vote: 'down' }],
      ['POST', `/v1/memories/${id}/explain`, { query: 'tea' }],
      ['POST', `/v1/memories/${id}/why-not`, { query: 'tea' }],
      ['GET', `/v1/memories/${id}/links`],
      ['PUT', `/v1/memories/${id}/links/mine`, {}],
      ['PUT', `/v1/memories/mine/links/${id}`, {}],
      ['DELETE', `/v1/memories/mine/links/${id}`],
    ];
    for (const [method, path, body] of tries) {
      const answer = await test.ask(method, path, { token: scoped, body });
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 404 });
      expect(answer.text).not.toMatch(/black|white/);
      const never = await test.ask(method, path.replace(id, 'never'), { token: scoped, body });
      expect(answer.text.replaceAll(id, 'never')).toBe(never.text);
    }
    const history = await test.ask('GET', `/v1/memories/${id}/history`, { token: scoped });
    expect(history.json.events).toEqual([]);
    expect(await stateOf()).toEqual(before);
  });

  it('weighs a memory by what it sees itself, in every answer', async () => {
    await using own = await startTestServer();
    const memory = await own.space();
    const at = (seconds: number) => ({ now: new Date(own.clock.now() - 10_000 + seconds * 1000) });
    await memory.remember('Drinks green tea', { id: 'old', scope: 'team:a', ...at(1) });
    await memory.remember('Drinks white tea', { id: 'next', scope: 'team:a', ...at(2) });
    await memory.remember('Drinks no tea', { id: 'hidden', scope: 'team:a/project:x', supersedes: 'old' });
    await memory.remember('Drinks oolong', { id: 'b1', scope: 'team:b', ...at(3) });
    await memory.remember('Drinks sencha', { id: 'b2', scope: 'team:b', supersedes: 'b1', ...at(4) });
    const token = await own.token({ scopes: ['team:a'] });
    const ask = async (method: string, path: string, body?: unknown) => {
      const { status, json } = await own.ask(method, path, { token, ...(body ? { body } : {}) });
      expect(status, path).toBe(200);
      return json;
    };
    const path = '/v1/memories/old';
    const answers = [
      await ask('GET', path),
      (await ask('GET', `${path}/timeline`)).memory,
      (await ask('GET', '/v1/memories/next/timeline')).before[0],
      await ask('PUT', `${path}/importance`, { importance: 0.7 }),
      await ask('PATCH', path, { tags: ['tea'] }),
      await ask('POST', `${path}/feedback`, { vote: 'up' }),
      await ask('POST', `${path}/invalidate`, { reason: 'asked again' }),
      await ask('POST', `${path}/reinstate`),
    ];
    expect(answers.map(({ id, effectiveWeight }) => [id, effectiveWeight])).toEqual(
      answers.map(() => ['old', 1]),
    );
    const both = await own.token({ scopes: ['team:a', 'team:b'] });
    const [got, listed] = await Promise.all([
      own.ask('GET', '/v1/memories/b1', { token: both }),
      own.ask('GET', '/v1/memories?scope=team:b&sort=created&direction=asc', { token: both }),
    ]);
    expect(got.json.effectiveWeight).toBeLessThan(1);
    expect(got.json.effectiveWeight).toBe(listed.json.memories[0].effectiveWeight);
  });

  it('does not learn how many memories of other scopes were forgotten', async () => {
    await using own = await startTestServer();
    const memory = await own.space();
    await memory.remember('Drinks green tea', { id: 'mine', scope: 'team:a' });
    await memory.remember('Drinks black tea', { id: 'theirs', scope: 'team:b' });
    const known = new Date(own.clock.now()).toISOString();
    own.clock.advance(1000);
    await memory.forget('theirs');
    const asked = async (token: string) => {
      const asOf = { known };
      const list = `/v1/memories?asOf=${encodeURIComponent(JSON.stringify(asOf))}`;
      const recall = { query: 'tea', asOf, trace: true };
      return [
        (await own.ask('GET', list, { token })).json.redacted,
        (await own.ask('POST', '/v1/recall', { token, body: recall })).json.trace.asOf.redacted,
      ];
    };
    expect(await asked(await own.token())).toEqual([1, 1]);
    expect(await asked(await own.token({ scopes: ['team:a'] }))).toEqual([undefined, 0]);
  });

  it('weighs both sides of a conflict by what it sees, also in the answer of its resolution', async () => {
    const angles = { 'Lives in Lisbon': 0, 'Lives in Porto': 5, 'Lives in Faro': 90, 'Lives at sea': 180 };
    await using own = await startTestServer({ spaces: { embedder: angleEmbedder(angles) as never } });
    const memory = await own.space();
    const at = (seconds: number) => ({ now: new Date(own.clock.now() - 10_000 + seconds * 1000) });
    await memory.remember('Lives in Lisbon', { id: 'older', scope: 'team:a', ...at(1) });
    await memory.remember('Lives in Porto', { id: 'newer', scope: 'team:a', ...at(2) });
    for (const [id, content] of [
      ['older', 'Lives in Faro'],
      ['newer', 'Lives at sea'],
    ] as const) {
      await memory.remember(content, { scope: 'team:a/project:x', supersedes: id, ...at(3) });
    }
    const [whole] = await memory.conflicts();
    expect(whole).toMatchObject({ older: { effectiveWeight: 0.1 }, newer: { effectiveWeight: 0.1 } });
    const token = await own.token({ scopes: ['team:a'] });
    const { json } = await own.ask('GET', '/v1/conflicts', { token });
    expect(json.conflicts).toMatchObject([
      { older: { id: 'older', effectiveWeight: 1 }, newer: { id: 'newer', effectiveWeight: 1 } },
    ]);
    const resolved = await own.ask('POST', `/v1/conflicts/${whole?.conflictId}/resolve`, {
      token,
      body: { resolution: 'keep-both' },
    });
    expect(resolved).toMatchObject({ status: 200, json: { memory: { effectiveWeight: 1 } } });
  });

  it('sees the neighbours of a memory in time, however many others lie between', async () => {
    await using own = await startTestServer();
    const memory = await own.space();
    const start = own.clock.now() - 1_000_000;
    for (let at = 0; at < 16; at++) {
      const now = new Date(start + at * 10_000);
      await memory.remember(`Cup ${at} of a`, { id: `a${at}`, scope: 'team:a', now });
      for (let other = 0; other < 6; other++)
        await memory.remember(`Cup ${at} of b, ${other}`, { scope: 'team:b', now: new Date(+now + 1000) });
    }
    await memory.feedback('a6', 'up');
    await memory.invalidate('a7', 'spilt');
    const token = await own.token({ scopes: ['team:a'] });
    const around = async (id: string) => {
      const { json } = await own.ask('GET', `/v1/memories/${id}/timeline`, { token });
      const ids = (memories: readonly { id: string }[]) => memories.map((each) => each.id);
      expect(json.memory).toMatchObject({ id });
      expect(JSON.stringify(json)).not.toMatch(/of b|votes/);
      return [ids(json.before), ids(json.after)];
    };
    expect(await around('a8')).toEqual([
      ['a3', 'a4', 'a5', 'a6', 'a7'],
      ['a9', 'a10', 'a11', 'a12', 'a13'],
    ]);
    expect(await around('a7')).toEqual([
      ['a2', 'a3', 'a4', 'a5', 'a6'],
      ['a8', 'a9', 'a10', 'a11', 'a12'],
    ]);
    expect(await around('a0')).toEqual([[], ['a1', 'a2', 'a3', 'a4', 'a5']]);
    expect(await around('a14')).toEqual([['a9', 'a10', 'a11', 'a12', 'a13'], ['a15']]);
  });

  it('does not see links and paths to what it does not see', async () => {
    const links = await test.ask('GET', '/v1/memories/mine/links', { token: scoped });
    expect(links.json.links).toEqual([]);
    const seen = await test.ask('GET', '/v1/memories/mine/links', { token: whole });
    expect(seen.json.links).toMatchObject([{ id: 'theirs' }]);
    const query = { query: 'tea team noon', explain: true, trace: true };
    const chains = async (token: string) =>
      (await test.ask('POST', '/v1/recall', { token, body: query })).json.evidenceChains;
    expect(JSON.stringify(await chains(whole))).toContain('theirs');
    expect(JSON.stringify(await chains(scoped))).not.toContain('theirs');
    const history = await test.ask('GET', '/v1/memories/mine/history', { token: scoped });
    expect(history.json.events.length).toBeGreaterThan(0);
    expect(history.text).not.toContain('theirs');
  });

  it('does not see what a memory said while it was elsewhere', async () => {
    const memory = await test.space();
    await memory.remember('A secret of team b', { id: 'moved', scope: 'team:b' });
    await memory.update('moved', { content: 'For everybody', scope: 'global' });
    const history = await test.ask('GET', '/v1/memories/moved/history', { token: scoped });
    expect(history.json.events.length).toBeGreaterThan(0);
    expect(history.text).not.toContain('secret');
    await memory.forget('moved');
  });

  it('writes in its scopes alone', async () => {
    const before = await stateOf();
    const tries: readonly (readonly [string, string, unknown])[] = [
      ['POST', '/v1/memories', { content: 'x', scope: 'global' }],
      ['POST', '/v1/memories', { content: 'x', scope: 'team:b' }],
      ['POST', '/v1/memories', { content: 'x', scope: 'team:a/project:x' }],
      ['POST', '/v1/memories/batch', { memories: [{ content: 'x' }, { content: 'y', scope: 'global' }] }],
      [
        'POST',
        '/v1/memories/import',
        { memories: [{ id: 'r', content: 'x', createdAt: '2026-01-01', scope: 'team:b' }] },
      ],
      ['POST', '/v1/memories/import', { memories: [{ id: 'r', content: 'x', createdAt: '2026-01-01' }] }],
      ['PATCH', '/v1/memories/mine', { scope: 'global' }],
      ['PATCH', '/v1/memories/everywhere', { content: 'x' }],
      ['DELETE', '/v1/memories/everywhere', undefined],
      ['PUT', '/v1/memories/mine/links/everywhere', {}],
      ['POST', '/v1/undo', {}],
      ['POST', '/v1/maintain', {}],
      ['POST', '/v1/curate', {}],
      ['POST', '/v1/observe', { scope: 'team:b', messages: [{ role: 'user', content: 'Hello' }] }],
      ['POST', '/v1/memories/everywhere/feedback', { vote: 'down' }],
      ['POST', '/v1/sessions', {}],
      ['POST', '/v1/reindex', {}],
      ['GET', '/v1/stats', undefined],
      ['GET', '/v1/check', undefined],
    ];
    for (const [method, path, body] of tries) {
      const answer = await test.ask(method, path, { token: scoped, body });
      expect({ method, path, code: answer.json.code }).toEqual({ method, path, code: 'forbidden' });
    }
    const imported = await test.ask('POST', '/v1/import', {
      token: scoped,
      body: '{"content":"x","scope":"team:b"}\n',
    });
    expect(imported.json).toMatchObject({ imported: 0, skipped: 1 });
    expect(await stateOf()).toEqual(before);
  });

  it('imports the other lines where one was made of a memory that the token does not see', async () => {
    const line = (id: string, derivedFrom: readonly string[]) =>
      JSON.stringify({
        revisionCount: 1,
        id,
        content: id,
        scope: 'team:a',
        createdAt: '2026-01-01T00:00:00.000Z',
        derivedFrom,
      });
    const body = `${line('part', [])}\n${line('made', ['theirs'])}\n${line('whole', ['part'])}\n{"kind":"end","count":3}\n`;
    const { json } = await test.ask('POST', '/v1/import', { token: scoped, body });
    expect(json).toMatchObject({ imported: 2, skipped: 1, problems: [{ line: '2' }] });
    await (await test.space()).forget(['part', 'whole']);
  });

  it('remembers in its scope where none is named, and must name one of several', async () => {
    const made = await test.ask('POST', '/v1/memories', {
      token: scoped,
      body: { content: 'New of team a', id: 'new' },
    });
    expect(made.status).toBe(200);
    expect(await (await test.space()).get('new')).toMatchObject({ scope: 'team:a' });
    await test.ask('PATCH', '/v1/memories/new', { token: scoped, body: { content: 'Changed' } });
    expect((await test.ask('DELETE', '/v1/memories/new', { token: scoped })).status).toBe(200);
    const several = await test.token({ scopes: ['team:a', 'team:b'] });
    const vague = await test.ask('POST', '/v1/recall', { token: several, body: { query: 'tea' } });
    expect(vague.json).toMatchObject({ status: 400, details: { field: 'scope' } });
    const exact = await test.ask('POST', '/v1/recall', {
      token: several,
      body: { query: 'tea', scope: 'team:b' },
    });
    expect([...idsOf(exact)].sort()).toEqual(['everywhere', 'theirs']);
  });
});

describe('a token for reading', () => {
  it('changes nothing, what a recall would learn included', async () => {
    const before = await stateOf();
    const tries: readonly (readonly [string, string, unknown?])[] = [
      ['POST', '/v1/memories', { content: 'x' }],
      ['POST', '/v1/memories/batch', { memories: [{ content: 'x' }] }],
      ['PATCH', '/v1/memories/mine', { content: 'x' }],
      ['DELETE', '/v1/memories/mine'],
      ['POST', '/v1/undo', {}],
      ['PUT', '/v1/memories/mine/links/everywhere', {}],
      ['DELETE', '/v1/memories/mine/links/theirs'],
      ['POST', '/v1/maintain', { dryRun: true }],
      ['POST', '/v1/curate', { dryRun: true }],
      ['POST', '/v1/observe', { messages: [{ role: 'user', content: 'Hello' }] }],
      ['POST', '/v1/memories/mine/feedback', { vote: 'up' }],
      ['PUT', '/v1/memories/mine/importance', { importance: 1 }],
      ['POST', '/v1/used', { ids: ['mine'] }],
      ['POST', '/v1/memories/import', { memories: [] }],
      ['POST', '/v1/reindex', {}],
      ['POST', '/v1/import', '{"content":"x"}\n'],
    ];
    for (const [method, path, body] of tries) {
      const answer = await test.ask(method, path, { token: reader, body });
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 403 });
    }
    const body = { strategy: 'five-factor', query: 'tea' };
    const recalled = await test.ask('POST', '/v1/recall', { token: reader, body });
    expect(recalled.status).toBe(200);
    expect(await stateOf()).toEqual(before);
    await test.ask('POST', '/v1/recall', { token: whole, body });
    expect(await stateOf()).not.toEqual(before);
  });

  it('reads what the other one reads', async () => {
    for (const path of [
      '/v1/memories',
      '/v1/memories/mine',
      '/v1/stats',
      '/v1/memories/mine/history',
      '/v1/check',
    ]) {
      const [a, b] = await Promise.all([reader, whole].map((token) => test.ask('GET', path, { token })));
      expect(a).toMatchObject({ status: 200, text: b!.text });
    }
  });
});
