import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import * as z from 'zod';
import { parseInput } from '../api/index.ts';
import { list } from '../api/read.ts';
import { invalidArgument, oneOf } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { inRun } from '../domain/work.ts';
import {
  type ExportEnd,
  exportEnd,
  type ImportItem,
  importItems,
  readJsonLine,
  withoutEnds,
  wrote,
} from '../import/index.ts';
import type { ListOptions, MemoryEngine } from '../index.ts';
import {
  type AppContext,
  type AppTypes,
  type Desk,
  queryOf,
  queryWith,
  refuseHeaders,
  signalOf,
} from './app-types.ts';
import { readBodyLines, refuseBody } from './body.ts';
import { confine, mayWrite, writeRefused } from './confine.ts';
import { parseQueryFields, withoutSpace } from './input.ts';
import type { Grant } from './tokens.ts';

/** Memories per page of an export, at most. Only one page is in memory at once; a page of large memories is shorter. */
const PAGE = 500;
/** Options of `list` that an export does not take, because it is always complete. */
export const NOT_OF_EXPORTS: readonly string[] = [
  'limit',
  'sort',
  'direction',
  'cursor',
  'offset',
  'around',
  'count',
];
/** The filters of `list` that an export takes. */
const filters = {
  name: 'export',
  input: z.strictObject(
    Object.fromEntries(Object.entries(list.input.shape).filter(([name]) => !NOT_OF_EXPORTS.includes(name))),
  ),
};
/** Most unusable lines that the answer of an import names. */
const MOST_PROBLEMS = 1000;

/** Adds the routes that export and import all memories as JSON Lines, streamed in both directions. */
export function addTransferRoutes(app: Hono<AppTypes>, desk: Desk): void {
  app.get('/v1/export', async (context) => {
    context.set('route', '/v1/export');
    refuseBody(context.env.incoming);
    refuseHeaders(context, 'salience-now');
    const grant = context.get('grant');
    const query = queryOf(context);
    const ofPages = NOT_OF_EXPORTS.find((name) => query.has(name));
    if (ofPages !== undefined) {
      throw invalidArgument(
        ofPages,
        'an export is always whole, and has no pages; leave it out, or use list',
      );
    }
    const filter: ListOptions = parseInput(
      filters,
      withoutSpace(parseQueryFields(filters.input, query), grant),
    );
    const memory = confine(await desk.spaces.get(grant.space), grant);
    return exportAll(context, memory, filter);
  });
  app.post('/v1/import', async (context) => {
    context.set('route', '/v1/import');
    refuseHeaders(context, 'salience-now', 'idempotency-key', 'if-match');
    const update = updateOf(queryWith(context, 'update'));
    const grant = context.get('grant');
    if (grant.rights === 'read') throw writeRefused('import');
    const memory = whileThere(confine(await desk.spaces.get(grant.space), grant));
    const problems: { readonly line: string; readonly reason: string }[] = [];
    const { signal, done } = signalOf(context);
    const run = randomUUID();
    const counts = await inRun(run, () =>
      importItems(memory, withoutEnds(itemsOf(context, grant, desk), 'the body'), {
        signal,
        update,
        onSkipped: (line, reason) => {
          if (problems.length < MOST_PROBLEMS) problems.push({ line, reason });
        },
      }),
    ).finally(done);
    // A token that is limited to some scopes cannot undo.
    const mayUndo = grant.scopes === undefined && wrote(counts);
    return context.json({ ...counts, problems, ...(mayUndo ? { run } : {}) });
  });
}

/**
 * Wraps the memory for an import so that it throws `aborted` when the space is deleted. Otherwise the rest would go
 * into a new space of the same name.
 */
function whileThere(memory: MemoryEngine): () => Promise<MemoryEngine> {
  let position = 'end';
  const look = async () => {
    try {
      ({ position } = await memory.activity(position, { limit: 1000 }));
    } catch (error) {
      if (SalienceError.isInstance(error) && error.code === 'invalid_argument') throw deletedMeanwhile();
      throw error;
    }
  };
  const lookAfter =
    <Given extends readonly unknown[], Written>(write: (...given: Given) => Promise<readonly Written[]>) =>
    async (...given: Given): Promise<readonly Written[]> => {
      const written = await write(...given);
      await look();
      // After a write the log cannot be empty, so the space was deleted and created again.
      if (written.length > 0 && position.startsWith('0.')) throw deletedMeanwhile();
      return written;
    };
  const looking: MemoryEngine = {
    ...memory,
    rememberMany: lookAfter(memory.rememberMany),
    importMemories: lookAfter(memory.importMemories),
  };
  return async () => {
    await look();
    return looking;
  };
}

function deletedMeanwhile(): SalienceError {
  return new SalienceError(
    'aborted',
    'the space was deleted while the import was under way, and what was imported before with it; send the import again if the space is to be made anew',
  );
}

/**
 * Reads `?update=true`: replace memories that the space has in another version, even if the export is not newer. Throws
 * `invalid_argument`.
 */
function updateOf(query: URLSearchParams): boolean {
  return oneOf(query.get('update') ?? 'false', 'update', ['true', 'false'] as const) === 'true';
}

async function exportAll(context: AppContext, memory: MemoryEngine, filter: ListOptions): Promise<Response> {
  // The first page is read before the response begins, so that an invalid request still gets its status.
  let page = await memory.list({ ...filter, sort: 'inserted', count: false, limit: PAGE });
  let last = false;
  let count = 0;
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (last) return controller.close();
      try {
        const text = page.memories.map((each) => `${JSON.stringify(each)}\n`).join('');
        count += page.memories.length;
        const cursor = page.nextCursor;
        last = cursor === undefined;
        controller.enqueue(Buffer.from(last ? `${text}${exportEnd(count)}\n` : text));
        if (last) return;
        // Otherwise a slow reader would keep reading after its token was revoked.
        await context.get('admitAgain')();
        page = await memory.list({ ...filter, sort: 'inserted', count: false, limit: PAGE, cursor });
      } catch (failure) {
        // A partial answer must not look complete, so the connection is cut before the final line and chunk.
        context.set('failure', failure);
        context.env.outgoing.destroy();
      }
    },
  });
  context.set('lasts', true);
  return new Response(lines, { headers: { 'content-type': 'application/x-ndjson' } });
}

async function* itemsOf(
  context: AppContext,
  grant: Grant,
  { body }: Desk,
): AsyncGenerator<ImportItem | ExportEnd, void> {
  const scope = grant.scopes?.length === 1 ? grant.scopes[0] : undefined;
  // An import may take long, and its token may be revoked meanwhile.
  for await (const line of readBodyLines(context.env.incoming, body, context.get('admitAgain'))) {
    const where = String(line.number);
    if (line.reason !== undefined) {
      yield { kind: 'unusable', where, reason: line.reason };
      continue;
    }
    const item = readJsonLine(line.text, where, `import#L${line.number}`, { scope });
    if (item.kind === 'end') {
      yield item;
      continue;
    }
    const named = item.kind === 'record' ? item.memory : item.kind === 'statement' ? item.input : undefined;
    yield named === undefined || mayWrite(grant, named.scope ?? 'global')
      ? item
      : { kind: 'unusable', where, reason: 'is of a scope in which this token may not write' };
  }
}
