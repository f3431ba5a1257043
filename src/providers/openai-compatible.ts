import { text, wholeNumber } from '../domain/check.ts';
import { throwIfAborted } from '../domain/errors.ts';
import { onlyKeys } from '../domain/options.ts';
import { checkedCalibration, checkedThresholds } from './checked-embedder.ts';
import { eachAtOnce } from './each-at-once.ts';
import type { Calibration, Embedder, SimilarityThresholds } from './embedder.ts';
import { createPostJson, HTTP_OPTION_NAMES, type HttpOptions, type PostJson, plainUrl } from './http.ts';
import { endpointUrl, findKey } from './openai-compatible-endpoint.ts';
import { failureOf } from './openai-compatible-failures.ts';
import { EMBEDDINGS, readVectors, type Server } from './openai-compatible-vectors.ts';

/** Options of {@link openAiCompatibleEmbedder}. */
export interface OpenAiCompatibleOptions extends HttpOptions {
  /** Base URL of the API, for example `http://127.0.0.1:11434/v1`. Requests go to `/embeddings` below it. */
  readonly baseUrl: string;
  /** The model's name on that server. */
  readonly model: string;
  /** Length of the model's vectors. If it is wrong, the error of the first call names the right number. */
  readonly dimensions: number;
  /**
   * Whether to request vectors of `dimensions` numbers, for models that can shorten theirs. For other models many
   * servers refuse or ignore this. Default is false: the model returns its natural length, which is checked.
   */
  readonly requestDimensions?: boolean | undefined;
  /** Default is the value of the environment variable `apiKeyEnv`; no key is sent when that is unset or empty. */
  readonly apiKey?: string | undefined;
  /** Default is `OPENAI_API_KEY` for the host api.openai.com, and `SALIENCE_EMBEDDER_KEY` for every other. */
  readonly apiKeyEnv?: string | undefined;
  /** Most texts in one request, 1–2048. Default is 64. */
  readonly batchSize?: number | undefined;
  /** Most concurrent requests of one call, 1–64. Default is 2. */
  readonly concurrency?: number | undefined;
  /**
   * Prepended to every query, for models that were trained with a prefix, such as `search_query: `. Default is none.
   */
  readonly queryPrefix?: string | undefined;
  /** Prepended to every memory, such as `search_document: `. It is part of the embedder's `model`. Default is none. */
  readonly memoryPrefix?: string | undefined;
  /** Default is `{ floor: 0.2, ceiling: 0.9 }`: an estimate, not measured for your model. */
  readonly calibration?: Calibration | undefined;
  /**
   * Cosines from −1 to 1. Default is conflict 0.75, birthLink 0.40, consolidation 0.70, similarPair 0.85: chosen for
   * OpenAI's and similar models, not measured for yours.
   */
  readonly thresholds?: Partial<SimilarityThresholds> | undefined;
}

const optionNames = [
  'baseUrl',
  'model',
  'dimensions',
  'requestDimensions',
  'apiKey',
  'apiKeyEnv',
  'batchSize',
  'concurrency',
  'queryPrefix',
  'memoryPrefix',
  'calibration',
  'thresholds',
  ...HTTP_OPTION_NAMES,
] as const satisfies readonly (keyof OpenAiCompatibleOptions)[];

/**
 * Creates an embedder on any server with OpenAI's embeddings API: Ollama, LM Studio, llama.cpp, vLLM, OpenAI itself.
 *
 * Its `model` is `openai-compatible:<model>:<dimensions>`, followed by `:<prefix as JSON>` with a memory prefix. The
 * URL of the server is not part of it: the same model on another server has the same vectors.
 *
 * `embed` does not send blank texts and returns `undefined` for them. It throws `aborted` as soon as its signal aborts,
 * `embedder_mismatch` if the server's vectors have another length, and `embedder_failed` for everything else. No error
 * contains the key or a text. The function itself throws `invalid_argument` for invalid options.
 *
 * @example
 * ```ts
 * const embedder = openAiCompatibleEmbedder({
 *   baseUrl: 'http://127.0.0.1:11434/v1',
 *   model: 'nomic-embed-text',
 *   dimensions: 768,
 * });
 * ```
 */
export function openAiCompatibleEmbedder(options: OpenAiCompatibleOptions): Embedder {
  onlyKeys(options, optionNames, 'options');
  const url = endpointUrl(options.baseUrl, '/embeddings');
  const server: Server = {
    url,
    address: plainUrl(url),
    model: text(options.model, 'model', { maxCharacters: 200 }),
    dimensions: wholeNumber(options.dimensions, 'dimensions', 1, 65_536),
    requestDimensions: options.requestDimensions ?? false,
    ...findKey(options, url, 'SALIENCE_EMBEDDER_KEY'),
  };
  const batchSize = wholeNumber(options.batchSize ?? 64, 'batchSize', 1, 2048);
  const concurrency = wholeNumber(options.concurrency ?? 2, 'concurrency', 1, 64);
  const { queryPrefix = '', memoryPrefix = '' } = options;
  const postJson = createPostJson(options);
  return {
    model: `openai-compatible:${server.model}:${server.dimensions}${memoryPrefix === '' ? '' : `:${JSON.stringify(memoryPrefix)}`}`,
    dimensions: server.dimensions,
    calibration: checkedCalibration(options.calibration),
    thresholds: checkedThresholds(options.thresholds),
    async embed(texts, { signal, purpose = 'memory' } = {}) {
      throwIfAborted(signal);
      const prefix = purpose === 'query' ? queryPrefix : memoryPrefix;
      const places = texts.flatMap((each, place) => (each.trim() === '' ? [] : [place]));
      const batches = Array.from({ length: Math.ceil(places.length / batchSize) }, (_, index) =>
        places.slice(index * batchSize, (index + 1) * batchSize),
      );
      const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
      await eachAtOnce(batches, concurrency, signal, async (batch, batchSignal) => {
        const input = batch.map((place) => prefix + (texts[place] ?? ''));
        const found = await embedBatch(server, postJson, input, batchSignal);
        batch.forEach((place, index) => {
          vectors[place] = found[index];
        });
      });
      return vectors;
    },
  };
}

async function embedBatch(
  server: Server,
  postJson: PostJson,
  input: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const { url, model, key, requestDimensions, dimensions } = server;
  const outcome = await postJson({
    url,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    body: { model, input, encoding_format: 'float', ...(requestDimensions ? { dimensions } : {}) },
    signal,
  });
  if (outcome.kind !== 'json') throw failureOf(outcome, server, EMBEDDINGS, input);
  return readVectors(outcome.value, server, input);
}
