import { SalienceError } from '../domain/errors.ts';
import type { Endpoint } from './openai-compatible-endpoint.ts';
import { type Api, brokenAnswer as broken } from './openai-compatible-failures.ts';
import { property } from './property.ts';
import { messageOfAnswer } from './server-message.ts';

/** What an embedder knows about its server. */
export interface Server extends Endpoint {
  readonly dimensions: number;
  readonly requestDimensions: boolean;
}

export const EMBEDDINGS: Api = {
  code: 'embedder_failed',
  name: 'embeddings API',
  askForLess: 'lower batchSize',
};

const brokenAnswer = (server: Server, problem: string) => broken(server, EMBEDDINGS, problem);

/**
 * Reads the unit vectors of an answer, in the order of the `sent` texts. Throws `embedder_mismatch` if they have
 * another length than the embedder's, and `embedder_failed` for anything that is not one usable vector per text.
 */
export function readVectors(
  answer: unknown,
  server: Server,
  sent: readonly string[],
): readonly Float32Array[] {
  const broken = (problem: string) => brokenAnswer(server, problem);
  const data = property(answer, 'data');
  if (!Array.isArray(data)) {
    const message = messageOfAnswer(answer, {
      secrets: server.key ? [server.key] : [],
      texts: sent,
    });
    throw broken(`has no list "data"${message === '' ? '' : `, but says: ${message}`}`);
  }
  if (data.length !== sent.length) throw broken(`holds ${data.length} vectors for ${sent.length} texts`);
  const vectors = new Array<Float32Array | undefined>(sent.length).fill(undefined);
  // Some servers omit the index and answer in order.
  const numbered = data.some((item) => property(item, 'index') !== undefined);
  data.forEach((item, position) => {
    const index = numbered ? property(item, 'index') : position;
    if (!isPlace(index, sent.length) || vectors[index] !== undefined) {
      throw broken(
        `numbers its vectors wrongly: index ${typeof index === 'number' ? index : `of type ${typeof index}`} at position ${position}`,
      );
    }
    vectors[index] = unitVector(property(item, 'embedding'), server, index);
  });
  return vectors as Float32Array[];
}

function unitVector(embedding: unknown, server: Server, index: number): Float32Array {
  const { model, dimensions, requestDimensions } = server;
  if (typeof embedding === 'string') {
    throw brokenAnswer(
      server,
      'holds vectors in base64, though "encoding_format": "float" was asked for: update the server, or turn off whatever changes the request on its way',
    );
  }
  if (!Array.isArray(embedding)) throw brokenAnswer(server, `has no list of numbers for text ${index}`);
  if (embedding.length === 0) {
    throw brokenAnswer(
      server,
      `holds an empty vector for text ${index}: is ${model} a model for embeddings?`,
    );
  }
  let largest = 0;
  for (const value of embedding) {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw brokenAnswer(server, `holds something other than finite numbers in the vector of text ${index}`);
    }
    largest = Math.max(largest, Math.abs(value));
  }
  if (embedding.length !== dimensions) {
    throw new SalienceError(
      'embedder_mismatch',
      `${model} at ${server.address} gives vectors of ${embedding.length} numbers, not ${dimensions}: ${
        requestDimensions
          ? `it does not shorten them as asked; set dimensions: ${embedding.length} and leave requestDimensions out`
          : `set dimensions: ${embedding.length}, or, when the model can shorten its vectors, requestDimensions: true`
      }`,
      { details: { url: server.address, model, expected: dimensions, received: embedding.length } },
    );
  }
  if (largest === 0) throw brokenAnswer(server, `holds a vector of zeros for text ${index}`);
  // Dividing by the largest value first keeps the squares of very large and very small numbers finite and above zero.
  let squares = 0;
  for (const value of embedding as number[]) squares += (value / largest) ** 2;
  const length = Math.sqrt(squares);
  return Float32Array.from(embedding as number[], (value) => value / largest / length);
}

function isPlace(value: unknown, count: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < count;
}
