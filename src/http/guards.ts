import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { SalienceError } from '../domain/errors.ts';

/** Names under which a server on this machine is asked. */
export const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export interface DoorOptions {
  /** Names, without ports, that a request may be for. */
  readonly hosts: readonly string[];
  /** Other websites whose pages may ask, such as `https://app.example`. */
  readonly origins: readonly string[];
}

/**
 * Lets in what is meant for this server. A page from elsewhere that had its own name resolved to this machine (DNS
 * rebinding) is told apart by the name it asked for; a page that just asks, by its origin. A program that is no
 * browser sends no origin.
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
    // The absolute form names a second host, which would be believed elsewhere.
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

/** Else `%FF` would be a name of its own in a path, and the sign for "unknown" in a query. */
function isEncoded(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    // The bundler takes a call whose value nobody uses for one without effect, and would leave it out.
    return decodeURIComponent(url) !== '';
  } catch {
    return false;
  }
}

/** A host without its port, in lower case. */
function nameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}

function timesSent(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}
