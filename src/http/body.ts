import { SalienceError } from '../model/errors.ts';

export interface BodyLimits {
  /** Bytes. */
  readonly bytes: number;
  /** Milliseconds until it must be there, all of it or, where it is streamed, its next piece. */
  readonly timeout: number;
}

/** The whole body as text. Throws `content_too_large`, `timed_out`, `invalid_text`, `aborted`. */
export async function readBody(request: Request, limits: BodyLimits): Promise<string> {
  const length = Number(request.headers.get('content-length') ?? 0);
  if (length > limits.bytes) throw tooLarge(limits.bytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const deadline = performance.now() + limits.timeout;
  for await (const chunk of pieces(request, () => deadline - performance.now())) {
    bytes += chunk.length;
    if (bytes > limits.bytes) throw tooLarge(limits.bytes);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new SalienceError('invalid_text', 'the body is not valid UTF-8', { cause });
  }
}

/** The body piece by piece. Ends with `timed_out` when a piece is not there after `remaining()` milliseconds. */
export async function* pieces(request: Request, remaining: () => number): AsyncGenerator<Uint8Array, void> {
  if (!request.body) return;
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), remaining());
      if (done) return;
      yield value;
    }
  } catch (cause) {
    if (SalienceError.isInstance(cause)) throw cause;
    throw new SalienceError('aborted', 'the request ended before its body did', { cause });
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function within<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new SalienceError('timed_out', 'the body of the request came too slowly')),
      Math.max(0, milliseconds),
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(limit: number): SalienceError {
  return new SalienceError(
    'content_too_large',
    `the body is longer than the limit of ${limit} bytes; send less at once, or start the server with a higher --body-limit`,
    { details: { limit } },
  );
}
