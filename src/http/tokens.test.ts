import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTokenStore, type TokenStore } from './tokens.ts';

const now = Date.UTC(2026, 0, 1);
let root: string;
let directory: string;
let tokens: TokenStore;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'salience-tokens-'));
  directory = join(root, 'store', 'tokens');
  tokens = openTokenStore(directory);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a token', () => {
  it.skipIf(process.getuid?.() !== 0)('that root makes belongs to whoever owns the others', async () => {
    mkdirSync(directory, { recursive: true });
    chownSync(directory, 65_534, 65_533);
    await tokens.create({ space: 'alice' }, now);
    const [file = ''] = readdirSync(directory);
    expect(statSync(join(directory, file))).toMatchObject({ uid: 65_534, gid: 65_533 });
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  });

  it('opens what it was created for; altered tokens open nothing', async () => {
    const { token, grant } = await tokens.create(
      { space: 'acme/alice', name: 'laptop', scopes: ['team:a', 'team:a'], rights: 'read' },
      now,
    );
    expect(grant).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'laptop',
      space: 'acme/alice',
      scopes: ['team:a'],
      rights: 'read',
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    expect(await tokens.authenticate(token)).toEqual(grant);
    const other = (await tokens.create({ space: 'bob' }, now)).token;
    const mixed = `${token.slice(0, 25)}${other.slice(25)}`;
    for (const wrong of [
      '',
      'salience_',
      mixed,
      `${token}A`,
      token.toUpperCase(),
      ` ${token}`,
      `${token}\n`,
    ]) {
      expect(await tokens.authenticate(wrong)).toBeUndefined();
    }
  });

  it('has 256 random bits, is stored as a hash, and is readable only by its owner', async () => {
    const made = await Promise.all(Array.from({ length: 50 }, () => tokens.create({ space: 'alice' }, now)));
    const secrets = made.map(({ token }) => token.slice(26));
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const files = readdirSync(directory);
    expect(files).toHaveLength(50);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const file of files) {
      expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
      const content = readFileSync(join(directory, file), 'utf8');
      for (const secret of secrets) expect(content).not.toContain(secret);
    }
  });

  it('stays revoked', async () => {
    const { token, grant } = await tokens.create({ space: 'alice' }, now);
    const { grant: other } = await tokens.create({ space: 'bob' }, now + 1);
    expect(await tokens.list()).toEqual([grant, other]);
    await tokens.revoke(grant.id);
    expect(await tokens.authenticate(token)).toBeUndefined();
    expect(await tokens.list()).toEqual([other]);
    await expect(tokens.revoke(grant.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(tokens.revoke('../tokens/x')).rejects.toMatchObject({ code: 'not_found' });
    expect(await openTokenStore(join(root, 'nowhere')).list()).toEqual([]);
  });

  it('is not created from invalid fields', async () => {
    const wrong = [
      [{ space: '../x' }, 'invalid_space_name'],
      [{ space: 'alice', scopes: ['a b'] }, 'invalid_scope'],
      [{ space: 'alice', scopes: [] }, 'invalid_argument'],
      [{ space: 'alice', rights: 'all' as never }, 'invalid_argument'],
      [{ space: 'alice', name: '' }, 'invalid_argument'],
    ] as const;
    for (const [token, code] of wrong)
      await expect(tokens.create(token, now)).rejects.toMatchObject({ code });
    for (const time of [undefined, 1e20, Number.NaN, '2026-01-01']) {
      await expect(tokens.create({ space: 'alice' }, time as never)).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { field: 'now' },
      });
    }
    expect(await tokens.list()).toEqual([]);
  });

  it('reports a directory that cannot be entered', async () => {
    const place = join(directory, 'place');
    const { token } = await tokens.create({ space: 'alice' }, now);
    for (const make of [() => writeFileSync(place, ''), () => symlinkSync('place', place)]) {
      rmSync(place, { force: true });
      make();
      const there = openTokenStore(join(place, 'tokens'));
      const making = there.create({ space: 'alice' }, now);
      await expect(making).rejects.toMatchObject({
        code: 'unwritable_file',
        message: expect.stringContaining(`mkdir '${place}`),
      });
      await expect(there.list()).rejects.toMatchObject({ code: 'unreadable_file' });
    }
    await expect(openTokenStore(join(place, 'tokens')).authenticate(token)).rejects.toMatchObject({
      code: 'unreadable_file',
    });
    rmSync(place);
  });

  it('opens nothing if its file is damaged or was exchanged', async () => {
    const { token, grant } = await tokens.create({ space: 'alice' }, now);
    const { grant: other } = await tokens.create({ space: 'bob' }, now);
    const file = join(directory, `${grant.id}.json`);
    const stored = JSON.parse(readFileSync(file, 'utf8'));
    const contents = [
      '',
      '{}',
      readFileSync(join(directory, `${other.id}.json`), 'utf8'),
      JSON.stringify({ ...stored, scopes: [] }),
      JSON.stringify({ ...stored, hash: '' }),
      JSON.stringify({ ...stored, createdAt: 'soon' }),
    ];
    for (const content of contents) {
      chmodSync(file, 0o600);
      writeFileSync(file, content);
      await expect(tokens.authenticate(token)).rejects.toMatchObject({ code: 'unreadable_file' });
    }
  });
});
