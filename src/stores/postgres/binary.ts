import type { PostgresConnection } from './connection.ts';

/** Properties of a client of `pg` that a store does not require of other drivers. */
interface WithProtocol {
  readonly connection?: { query?(text: string): void };
  readonly pipeline?: boolean;
}

/** The connection that a client of `pg` passes to the `submit` method of a query object. */
interface Protocol {
  query(text: string): void;
  readonly stream?: { pause(): unknown; resume(): unknown };
}

/** The number of bytes after which reading pauses, so that other work can run. Otherwise all data waiting in the socket is read at once. */
const BETWEEN = 256 * 1024;

/** Whether `query` accepts an object that speaks the protocol itself, as clients of `pg` do unless they pipeline. */
export function takesCopies(connection: PostgresConnection): boolean {
  const { connection: protocol, pipeline } = connection as WithProtocol;
  return typeof protocol?.query === 'function' && pipeline !== true;
}

/**
 * Runs a `COPY … TO STDOUT (FORMAT binary)` of one column, because `pg` can read rows only as text, but passes on copied data
 * unchanged. Calls `take` with the bytes of all rows, in pieces that are valid only during the call.
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
      /** Set by a client with a query timeout. Calling it stops the timer. */
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

/** The length of the header: a signature of 11 bytes, flags (4), and the length of an extension (4), which is 0. */
const HEADER = 19;

/** The length of a row's header: the number of fields (2) and the length of the one field (4). The final marker is shorter. */
const ROW_HEADER = 6;

/** Returns a function that parses the output of a COPY of one column, however it is split into chunks. */
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
