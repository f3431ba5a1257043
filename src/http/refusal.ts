import { type ServerResponse, STATUS_CODES } from 'node:http';
import { RequestError } from '@hono/node-server';
import { invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { problemOf } from './problem.ts';

/** An error for bytes that never became a request: the head is too long, arrived too slowly, or is not HTTP. */
interface Unreadable extends Error {
  readonly code?: string;
}

/** Returns the raw response to bytes that never became a request. */
export function refusalOfUnreadable({ code }: Unreadable): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return refusal(
      new SalienceError(
        'content_too_large',
        'the address and headers of the request are longer than 16 KiB; send what is long in a body',
      ),
      431,
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return refusal(
      new SalienceError('timed_out', 'the head of the request did not arrive in time; send it again'),
    );
  }
  return refusal(new SalienceError('invalid_argument', 'this is not an HTTP request that can be read'));
}

/**
 * Returns the response to a request that the adapter refuses, such as one without a host, or whose error nothing else
 * handled.
 */
export function responseToUnreadable(error: unknown): Response {
  const refused =
    error instanceof RequestError
      ? new SalienceError('invalid_argument', 'the request has no host, or no address that can be read')
      : error;
  const { problem } = problemOf(refused);
  return Response.json(problem, {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', connection: 'close' },
  });
}

/** Returns the raw response to a `CONNECT` request: this server is no proxy. */
export function refusalOfTunnel(): string {
  return refusal(new SalienceError('invalid_argument', 'CONNECT: this server is no proxy; ask it directly'));
}

/** Answers a request whose `Expect` header is not supported. */
export function refuseExpectation(response: ServerResponse): void {
  const unknown = 'only 100-continue is understood; leave the header out';
  const { problem } = problemOf(invalidArgument('expect', unknown));
  const status = 417;
  const body = JSON.stringify({ ...problem, status });
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Returns the raw response when no connection is free. */
export function refusalOfConnection(): string {
  const busy = new SalienceError(
    'rate_limited',
    'the server has too many connections; try again in a second',
  );
  return refusal(busy, 503, 'retry-after: 1\r\n');
}

function refusal(error: SalienceError, status?: number, headers = ''): string {
  const problem = { ...problemOf(error).problem, ...(status === undefined ? {} : { status }) };
  const body = JSON.stringify(problem);
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${headers}content-type: application/problem+json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
