/** `transfer` is not in Node.js 20. */
interface Transferable {
  readonly transfer?: (length: number) => unknown;
}

let nowhere: ReturnType<typeof closedPort> | undefined;

/**
 * Gives back the memory of bytes that nobody uses any more, which are empty then. The collector would do so when 64 MB have come
 * together, by looking through everything that the program holds. Bytes that have no memory of their own are left alone.
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
    // They belong to others as well: the collector frees them.
  }
}

/** What is sent to it is freed: nobody listens at the other end. */
function closedPort() {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
