import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { refusalOfConnection, refusalOfTunnel, refusalOfUnreadable, refuseExpectation } from './refusal.ts';

export interface ConnectionLimits {
  /** Most connections at once. */
  readonly total: number;
  /** Most connections at once from one network address. */
  readonly perAddress: number;
  /** In milliseconds: a connection of which nothing is read for so long, though an answer waits, is closed. */
  readonly answerTimeout: number;
}

/** So many turns of the loop without anything new: in one a connection is accepted, in a later one its request is read. */
const QUIET_TURNS = 3;

/** The connections of a server, within limits. */
export interface Connections {
  /** The request under way on this connection is of somebody who is known: it is not closed for a new one any more. */
  admit(socket: Socket): void;
  /**
   * Stops listening, answers the requests that have arrived, and closes every connection as soon as nothing is under
   * way on it. What takes longer than `timeout` milliseconds is cut off.
   */
  finish(timeout: number): Promise<void>;
}

/**
 * Keeps a server's connections within limits. A new one always finds room while any is idle, that is, without a whole
 * head of a request that waits for its answer, or has a request of nobody who is known: the one that was idle longest is closed, then the
 * longest unknown. When requests of the known are under way on all of them, the new one is answered with 503.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
  const addresses = new Map<Socket, string>();
  const perAddress = new Map<string, number>();
  const running = new Map<Socket, number>();
  /** The longest idle first. */
  const idle = new Set<Socket>();
  /** Of which no request was admitted lately, the oldest first: a body that never ends must block nobody. */
  const unknown = new Set<Socket>();
  /** How much of an unread answer has left this process, at the last look. */
  const sent = new Map<Socket, number>();
  const latest = new WeakMap<
    Socket,
    { readonly request: IncomingMessage; readonly response: ServerResponse }
  >();
  /** What came after whole requests that are under way, and cannot be read: it is refused after their answers. */
  const unreadable = new WeakMap<Socket, Error>();
  let finishing = false;
  /** How many connections and requests there were. */
  let arrived = 0;

  const drop = (socket: Socket) => {
    const address = addresses.get(socket);
    if (address === undefined) return;
    addresses.delete(socket);
    running.delete(socket);
    sent.delete(socket);
    idle.delete(socket);
    unknown.delete(socket);
    const left = (perAddress.get(address) ?? 0) - 1;
    if (left > 0) perAddress.set(address, left);
    else perAddress.delete(address);
  };
  const close = (socket: Socket | undefined) => {
    if (!socket) return;
    drop(socket);
    socket.destroy();
  };
  const refuse = (socket: Socket, error: Error) => {
    socket.end(refusalOfUnreadable(error));
    socket.destroySoon();
  };
  const isFullFor = (address: string) => (perAddress.get(address) ?? 0) >= limits.perAddress;
  const isFull = () => addresses.size >= limits.total;

  const closeUnread = () => {
    for (const [socket, requests] of running) {
      if (requests === 0 || socket.writableLength === 0) sent.delete(socket);
      else if (sent.get(socket) === socket.bytesWritten - socket.writableLength) close(socket);
      else sent.set(socket, socket.bytesWritten - socket.writableLength);
    }
  };
  const looking = setInterval(closeUnread, limits.answerTimeout).unref();

  server.on('connection', (socket: Socket) => {
    arrived++;
    const address = socket.remoteAddress ?? '';
    const spare = () => [...idle, ...unknown];
    if (isFullFor(address)) close(spare().find((each) => addresses.get(each) === address));
    else if (isFull()) close(spare()[0]);
    if (isFullFor(address) || isFull()) {
      socket.end(refusalOfConnection());
      socket.destroySoon();
      return;
    }
    addresses.set(socket, address);
    perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
    idle.add(socket);
    socket.once('close', () => drop(socket));
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    arrived++;
    const { socket } = request;
    if (!addresses.has(socket)) return;
    latest.set(socket, { request, response });
    running.set(socket, (running.get(socket) ?? 0) + 1);
    idle.delete(socket);
    unknown.add(socket);
    response.once('close', () => {
      if (!addresses.has(socket)) return;
      // Requests may be sent before the answers of those before them.
      const left = (running.get(socket) ?? 1) - 1;
      running.set(socket, left);
      if (left > 0) return;
      const error = unreadable.get(socket);
      // One that is ending already still sends its last answer.
      if (error && socket.writable) refuse(socket, error);
      else if (finishing) socket.destroySoon();
      else idle.add(socket);
    });
  });

  server.on('clientError', (error, stream) => {
    const socket = stream as Socket;
    const { request, response } = latest.get(socket) ?? {};
    const requests = running.get(socket) ?? 0;
    const isUnfinished = requests === 1 && !request?.complete && !response?.headersSent;
    // A refusal sent otherwise would be taken for the answer of an earlier request, or be written into one.
    if (socket.writable && (requests === 0 || isUnfinished)) refuse(socket, error);
    else if (socket.writable && request?.complete) unreadable.set(socket, error);
    else close(socket);
  });

  // To these two Node.js would answer nothing, or not why.
  server.on('connect', (_, stream) => {
    const socket = stream as Socket;
    // From here on nobody else hears it, and an error that nobody hears ends the process.
    socket.on('error', () => close(socket));
    if ((running.get(socket) ?? 0) > 0) return close(socket);
    socket.end(refusalOfTunnel());
    socket.destroySoon();
  });
  server.on('checkExpectation', (_, response: ServerResponse) => refuseExpectation(response));

  return {
    admit: (socket) => void unknown.delete(socket),
    async finish(timeout) {
      const until = performance.now() + timeout;
      // What has arrived already is a request that somebody waits for: it is accepted, read and begun. Node.js accepts one
      // connection in a turn of its loop, and where many keep coming there is no end of them.
      const enough = performance.now() + timeout / 4;
      for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < enough; ) {
        const before = arrived;
        await turnOfTheLoop();
        quiet = arrived === before ? quiet + 1 : 0;
      }
      finishing = true;
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of [...idle]) close(socket);
      const left = Math.max(0, until - performance.now());
      const timer = setTimeout(() => server.closeAllConnections(), left);
      await ended;
      clearTimeout(timer);
      clearInterval(looking);
    },
  };
}
