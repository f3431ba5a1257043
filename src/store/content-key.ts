import { crc32 } from 'node:zlib';
import { normalisedContent } from '../domain/statement.ts';

/**
 * The CRC-32 of the normalised content, for finding equal statements. Different statements may share it, so compare the
 * statements that it finds.
 */
export function contentKey(content: string): number {
  return crc32(normalisedContent(content));
}
