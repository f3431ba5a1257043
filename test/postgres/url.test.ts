import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';

/** The parameters and the password that a client has sent last. */
let sent: Record<string, string | undefined> = {};

/** Asks each client for its password, and then refuses it. */
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (startup) => {
    const [...parts] = startup.subarray(8).toString().split('\0');
    sent = Object.fromEntries(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1]]] : [])));
    socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    socket.once('data', (answer) => {
      sent['password'] = answer.subarray(5, -1).toString();
      const fields = Buffer.from('SFATAL\0C28P01\0Mrefused\0\0');
      const length = Buffer.alloc(4);
      length.writeInt32BE(fields.length + 4);
      socket.end(Buffer.concat([Buffer.from('E'), length, fields]));
    });
  });
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

/** The message for a URL that begins with a user and ends with a database, and what the server was sent. */
async function connecting(user: string, database: string, before = '', after = '') {
  const { port } = server.address() as AddressInfo;
  sent = {};
  await using store = postgres(`${before}postgresql://${user}@127.0.0.1:${port}/${database}${after}`);
  const error: unknown = await openMemory({ store, space: 'alice', embedder: 'none' }).catch((each) => each);
  return { ...sent, message: (error as Error).message.replace(String(port), 'PORT') };
}

describe('the parts of a URL reach the server as they are meant', () => {
  it.each(['a/b', 'a@b', 'a:b+c;d=e&f$g,h', '50%', 'ä b', '%2F', 'plain'])(
    'the database %s',
    async (name) => {
      expect(await connecting('app:secret', encodeURIComponent(name))).toMatchObject({
        database: name,
        message: expect.stringMatching(`PostgreSQL at 127.0.0.1:PORT/${name.replaceAll(/[+$]/g, '\\$&')}: `),
      });
    },
  );

  it.each([
    ['a newline at its end', '', '\n'],
    ['a space before it', ' ', ''],
    ['a space in its options', '', '?application_name=two words'],
  ])('the password, if the URL has %s', async (_, before, after) => {
    expect(await connecting('app:w%2Fo%40r%C3%A4', 'main', before, after)).toMatchObject({
      user: 'app',
      password: 'w/o@rä',
      database: 'main',
    });
  });

  it('a "%" that begins no code is one, and other codes stay', async () => {
    expect(await connecting('app:5%%2F%', 'main')).toMatchObject({ password: '5%/%' });
  });
});

describe('a URL that the driver cannot use is refused at once', () => {
  it.each(['a%3Fb', 'a%23b'])('the database %s', (name) => {
    expect(() => postgres(`postgresql://app@127.0.0.1/${name}`)).toThrow(/hand over a pool/);
  });

  it('a password that is not UTF-8', () => {
    expect(() => postgres('postgresql://app:canary%E4@127.0.0.1/main')).toThrow(/expected a URL/);
    expect(() => postgres('postgresql://app:canary%E4@127.0.0.1/main')).not.toThrow(/canary/);
  });

  it('a certificate that is not there is named', async () => {
    const { message } = await connecting('app', 'main', '', '?sslrootcert=/nowhere/root.crt');
    expect(message).toBe(
      'PostgreSQL at 127.0.0.1:PORT/main: "/nowhere/root.crt" cannot be read (ENOENT); correct sslrootcert, sslcert or sslkey in the URL',
    );
  });
});
