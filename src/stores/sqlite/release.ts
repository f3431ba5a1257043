/** `transfer` is not in Node.js 20. */
interface Transferable {
  readonly transfer?: (length: number) => unknown;
}

let nowhere: ReturnType<typeof closedPort> | undefined;

/**
 * Frees the memory of bytes that are no longer used, and leaves them empty. The garbage collector would free them only after 64 MB
 * have accumulated, with a full collection. Does nothing to bytes that share their buffer.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== byteLength) return;
  try {
    const { transfer } = buffer as Transferable;
    if (transfer) {
      transfer.call(buffer, 0);
    } else {
      nowhere ??= closedPort();
      nowhere.postMessage(undefined, [buffer]);
    }
  } catch {
    // The buffer cannot be detached. The garbage collector will free it.
  }
}

/** Returns a port that frees the buffers sent to it, because its other end is closed. */
function closedPort() {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
