import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { refusalOfConnection, refusalOfTunnel, refusalOfUnreadable, refuseExpectation } from './refusal.ts';

export interface ConnectionLimits {
  /** Most connections at once. */
  readonly total: number;
  /** Most connections at once from one network address. */
  readonly perAddress: number;
  /** Milliseconds after which a connection is closed if the client reads nothing of a pending answer. */
  readonly answerTimeout: number;
}

/**
 * Turns of the event loop without a new connection or request before shutdown goes on. Accepting a connection and
 * reading its request happen in different turns.
 */
const QUIET_TURNS = 3;

/** The connections of a server, within limits. */
export interface Connections {
  /**
   * Marks the request on this connection as authenticated. The connection is no longer closed to make room for a new
   * one.
   */
  admit(socket: Socket): void;
  /**
   * Stops listening, answers the requests that have arrived, and closes each connection as soon as it has no request in
   * progress. After `timeout` milliseconds all connections are closed.
   */
  finish(timeout: number): Promise<void>;
}

/**
 * Keeps the connections of a server within limits. If a limit is reached, a new connection replaces the one that has
 * been idle longest, else the oldest one without an authenticated request. If every connection has an authenticated
 * request in progress, the new one is answered with 503. A connection is idle while no complete request head waits for
 * its answer.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
  const addresses = new Map<Socket, string>();
  const perAddress = new Map<string, number>();
  const running = new Map<Socket, number>();
  /** Longest idle first. */
  const idle = new Set<Socket>();
  /** Connections whose request is not authenticated yet, oldest first. A body that never ends must not block others. */
  const unknown = new Set<Socket>();
  /** Bytes that each connection with an unread answer had sent at the last check. */
  const sent = new Map<Socket, number>();
  const latest = new WeakMap<
    Socket,
    { readonly request: IncomingMessage; readonly response: ServerResponse }
  >();
  /** Parse errors that followed complete requests in progress. They are answered after those requests. */
  const unreadable = new WeakMap<Socket, Error>();
  let finishing = false;
  /** Connections and requests so far. */
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
      // With pipelining, several requests may be in progress on one connection.
      const left = (running.get(socket) ?? 1) - 1;
      running.set(socket, left);
      if (left > 0) return;
      const error = unreadable.get(socket);
      // A connection that is not writable any more still sends its last answer.
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
    // In other states, the client would take the refusal for the answer to an earlier request, or find it inside of
    // one.
    if (socket.writable && (requests === 0 || isUnfinished)) refuse(socket, error);
    else if (socket.writable && request?.complete) unreadable.set(socket, error);
    else close(socket);
  });

  // Node.js would close the connection without an answer, or answer without a reason.
  server.on('connect', (_, stream) => {
    const socket = stream as Socket;
    // Node.js has removed its own listeners, and an unhandled `error` event would end the process.
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
      // Clients wait for requests that have already arrived, so they are accepted, read and started first. Node.js
      // accepts one connection per turn of its loop; `enough` ends this if new ones keep coming.
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
