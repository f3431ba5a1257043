import type { PostgresConnection } from './connection.ts';

/** What a client of `pg` has of its own, beside what a store asks of any driver. */
interface WithProtocol {
  readonly connection?: { query?(text: string): void };
  readonly pipeline?: boolean;
}

/** What a client hands to such an object. */
interface Protocol {
  query(text: string): void;
  readonly stream?: { pause(): unknown; resume(): unknown };
}

/** Bytes that are taken in before others may go on: what waits in a socket would be read in one go. */
const BETWEEN = 256 * 1024;

/** Whether it takes an object that speaks the protocol itself in place of a query, as clients of `pg` do that do not pipeline. */
export function takesCopies(connection: PostgresConnection): boolean {
  const { connection: protocol, pipeline } = connection as WithProtocol;
  return typeof protocol?.query === 'function' && pipeline !== true;
}

/**
 * Runs `COPY … TO STDOUT (FORMAT binary)` of one column: `pg` reads rows as text alone, and what is copied as it comes. `take` gets the
 * bytes of all rows in pieces that are only lent.
 */
export function copyBytes(
  connection: PostgresConnection,
  text: string,
  take: (bytes: Uint8Array) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const read = copyReader(take);
    const nothing = () => {};
    let stream: Protocol['stream'];
    let taken = 0;
    const copying = {
      /** Set by a client with a limit of time, which it ends. */
      callback: undefined as (() => void) | undefined,
      submit(protocol: Protocol) {
        stream = protocol.stream;
        protocol.query(text);
      },
      handleCopyData({ chunk }: { readonly chunk: Buffer }) {
        read(chunk);
        taken += chunk.length;
        if (taken < BETWEEN) return;
        taken = 0;
        stream?.pause();
        setImmediate(() => stream?.resume());
      },
      handleError: reject,
      handleReadyForQuery() {
        copying.callback?.();
        resolve();
      },
      handleRowDescription: nothing,
      handleDataRow: nothing,
      handleCommandComplete: nothing,
      handleEmptyQuery: nothing,
      handlePortalSuspended: nothing,
      handleCopyInResponse: nothing,
    };
    (connection.query as (query: unknown) => unknown).call(connection, copying);
  });
}

/** A signature of 11 bytes, flags, and the length of what may follow, which is nothing. */
const HEADER = 19;

/** How many fields there are, and the length of the one. The end of all rows is shorter. */
const ROW_HEADER = 6;

/** Takes apart what COPY sends of one column, in whatever pieces it comes. */
export function copyReader(take: (bytes: Uint8Array) => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER);
  let wanted = HEADER;
  let filled = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const bytes = chunk.subarray(at, at + left);
        take(bytes);
        at += bytes.length;
        left -= bytes.length;
        continue;
      }
      const some = chunk.copy(header, filled, at, at + wanted - filled);
      at += some;
      filled += some;
      if (filled < wanted) continue;
      if (wanted === ROW_HEADER) left = Math.max(0, header.readInt32BE(2));
      wanted = ROW_HEADER;
      filled = 0;
    }
  };
}
