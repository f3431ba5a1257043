import { open } from 'node:fs/promises';
import { endianness } from 'node:os';

/** The part of a write-ahead log that cannot be read. */
export interface LogDamage {
  /** Length in bytes of the undamaged start of the log, up to the end of a transaction. */
  readonly good: number;
  /** Number of intact transactions after the damage. SQLite would ignore them silently. */
  readonly lost: number;
}

/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;
const FRAMES_READ = 256;

/**
 * Looks for damage inside a write-ahead log. SQLite reads a log up to the first frame with a wrong checksum, because a crash leaves
 * such a frame at the end. If intact transactions follow that frame, the cause is another one, such as a flipped bit on the disk.
 * Blocks that a power cut left unwritten are not damage: those writes were never acknowledged.
 */
export async function findLogDamage(path: string, pageBytes: number): Promise<LogDamage | undefined> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(HEADER);
    if ((await file.read(header, 0, HEADER, 0)).bytesRead < HEADER) return undefined;
    const size = (await file.stat()).size;
    const isBig =
      header.readUInt32BE(0) === MAGIC + 1 || (header.readUInt32BE(0) !== MAGIC && endianness() === 'BE');
    const headerSum = sumOf(header, isBig, 0, HEADER - 8, [0, 0]);
    const headerIsGood = header.readUInt32BE(0) >>> 1 === MAGIC >>> 1 && isAt(headerSum, header, HEADER - 8);
    const pageSize = headerIsGood ? header.readUInt32BE(8) : pageBytes;
    const frameSize = FRAME_HEADER + pageSize;
    const frames: Frame[] = [];
    let before: Sum = pairAt(header, HEADER - 8);
    const buffer = Buffer.alloc(FRAMES_READ * frameSize);
    for (let at = HEADER; at + frameSize <= size; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      const whole = Math.floor(bytesRead / frameSize);
      if (whole === 0) break;
      for (let start = 0; start < whole * frameSize; start += frameSize) {
        const sum = sumOf(
          buffer,
          isBig,
          start + FRAME_HEADER,
          pageSize,
          sumOf(buffer, isBig, start, 8, before),
        );
        frames.push({
          ends: buffer.readUInt32BE(start + 4) !== 0,
          salts: pairAt(buffer, start + 8),
          follows: isAt(sum, buffer, start + 16),
        });
        before = pairAt(buffer, start + 16);
      }
      at += whole * frameSize;
    }
    return damageAmong(frames, headerIsGood ? pairAt(header, 16) : undefined, frameSize);
  } finally {
    await file.close();
  }
}

type Sum = readonly [number, number];

interface Frame {
  /** Whether it is the last frame of a transaction. */
  readonly ends: boolean;
  /** Two numbers that all frames share that were written since the log was last started anew. */
  readonly salts: Sum;
  /** Whether its checksum is right. It continues the checksum of the frame before. */
  readonly follows: boolean;
}

/** Returns the damage among `frames`, if any. `salts` are those of the header, or undefined if the header is damaged. */
function damageAmong(
  frames: readonly Frame[],
  salts: Sum | undefined,
  frameSize: number,
): LogDamage | undefined {
  const shared = salts ?? frames.find(({ follows }, at) => at > 0 && follows)?.salts;
  if (!shared) return undefined;
  const isGood = ({ follows, salts }: Frame) => follows && differing(salts, shared) === 0;
  const bad = salts ? frames.findIndex((frame) => !isGood(frame)) : 0;
  if (bad === -1) return undefined;
  const lost = frames.slice(bad + 1).filter((frame) => frame.ends && isGood(frame)).length;
  // An unwritten block is empty or holds a frame of an earlier use of the log, so both of its salts are wrong.
  const wasNotWritten = frames.slice(bad, bad + 2).some((frame) => differing(frame.salts, shared) === 2);
  if (lost === 0 || wasNotWritten) return undefined;
  const good = frames.slice(0, bad).findLastIndex(({ ends }) => ends) + 1;
  return { good: good === 0 ? 0 : HEADER + good * frameSize, lost };
}

function differing(a: Sum, b: Sum): number {
  return Number(a[0] !== b[0]) + Number(a[1] !== b[1]);
}

function pairAt(bytes: Buffer, at: number): Sum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isAt([first, second]: Sum, bytes: Buffer, at: number): boolean {
  return first === bytes.readUInt32BE(at) && second === bytes.readUInt32BE(at + 4);
}

/** Continues the checksum of SQLite's log from `before` over `length` bytes. `length` must be a multiple of 8. */
function sumOf(bytes: Buffer, isBig: boolean, at: number, length: number, before: Sum): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  let [first, second] = before;
  for (let offset = 0; offset < length; offset += 8) {
    first = (first + view.getUint32(offset, !isBig) + second) >>> 0;
    second = (second + view.getUint32(offset + 4, !isBig) + first) >>> 0;
  }
  return [first, second];
}
