import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { SalienceError } from '../domain/errors.ts';

/** Host names of a server on this machine. */
export const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export interface DoorOptions {
  /** Accepted Host names, without ports. */
  readonly hosts: readonly string[];
  /** Other origins whose pages may use the server, such as `https://app.example`. */
  readonly origins: readonly string[];
}

/**
 * Accepts only requests that are meant for this server. The Host check stops DNS rebinding, the Origin check stops
 * pages of other sites. Programs other than browsers send no Origin.
 */
export function door({ hosts, origins }: DoorOptions): MiddlewareHandler<{ Bindings: HttpBindings }> {
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  const elsewhere = new Set(origins);
  return async ({ env: { incoming } }, next) => {
    const host = incoming.headers.host;
    if (host === undefined || !known.has(nameOf(host)) || timesSent('host', incoming.rawHeaders) > 1) {
      throw new SalienceError(
        'forbidden',
        'this server does not accept this Host header; to allow it, start the server with --allow-host',
      );
    }
    // The absolute form contains a second host name, which other code would trust.
    if (!incoming.url?.startsWith('/')) {
      throw new SalienceError('invalid_argument', 'the target of a request must be a path');
    }
    if (!isEncoded(incoming.url)) {
      throw new SalienceError('invalid_text', 'the path or the query is not valid percent-encoded UTF-8');
    }
    const origin = incoming.headers.origin;
    if (origin !== undefined && origin !== `http://${host}` && !elsewhere.has(origin)) {
      throw new SalienceError(
        'forbidden',
        'pages of this origin may not use this server; to allow them, start it with --allow-origin',
      );
    }
    await next();
  };
}

/**
 * Whether a URL is valid percent-encoded UTF-8. Otherwise `%FF` would be a name of its own in a path, and U+FFFD in a
 * query.
 */
function isEncoded(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    // The result is compared because bundlers drop a call whose value is not used.
    return decodeURIComponent(url) !== '';
  } catch {
    return false;
  }
}

/** Returns a host without its port, in lower case. */
function nameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}

function timesSent(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}
