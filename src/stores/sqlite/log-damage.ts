import { open } from 'node:fs/promises';
import { endianness } from 'node:os';

/** The part of a write-ahead log that cannot be read. */
export interface LogDamage {
  /** Bytes of it that are good, up to the end of a write. */
  readonly good: number;
  /** Writes after the damage, all of which SQLite would pass over without a word. */
  readonly lost: number;
}

/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;
const FRAMES_READ = 256;

/**
 * Looks for damage inside a log. SQLite reads a log up to the first frame whose checksum is wrong, because that is how a
 * crash leaves the end of one; writes that follow are proof of something else, such as a disk that changed a bit. What a
 * power cut leaves, blocks that were never written, is no damage: nobody was told that those writes are done.
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
  /** Whether a write ends with it. */
  readonly ends: boolean;
  /** Two numbers that all frames since the log was begun share. */
  readonly salts: Sum;
  /** Whether its checksum is what follows from the one before it. */
  readonly follows: boolean;
}

/** `salts` are those of the header; undefined where it is damaged. */
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
  // A block that was not written holds nothing, or a frame of what the log held before: neither of its salts is right.
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

/** The checksum of SQLite's log, continued from `before`: of a length that 8 divides. */
function sumOf(bytes: Buffer, isBig: boolean, at: number, length: number, before: Sum): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  let [first, second] = before;
  for (let offset = 0; offset < length; offset += 8) {
    first = (first + view.getUint32(offset, !isBig) + second) >>> 0;
    second = (second + view.getUint32(offset + 4, !isBig) + first) >>> 0;
  }
  return [first, second];
}
