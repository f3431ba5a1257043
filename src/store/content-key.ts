import { crc32 } from 'node:zlib';
import { normalisedContent } from '../domain/statement.ts';

/**
 * What equal statements have in common: the CRC-32 of the normalised content. Different ones may share it: whoever finds
 * by it compares the statements too.
 */
export function contentKey(content: string): number {
  return crc32(normalisedContent(content));
}
