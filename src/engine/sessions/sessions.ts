import { text } from '../../domain/check.ts';
import { clip } from '../../domain/clip.ts';
import { SalienceError } from '../../domain/errors.ts';
import { type MemoryRecord, textChangeOf } from '../../domain/memory.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { GLOBAL_SCOPE, parseScope, visibleScopes } from '../../domain/scope.ts';
import { formatInstant, type Instant, MILLISECONDS_PER_DAY } from '../../domain/time.ts';
import type { Change, Session } from '../../store/store.ts';
import { readAfterWrite } from '../after-write.ts';
import { believedAmong } from '../belief/supersession.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import type { Hit } from '../recall/hit.ts';
import { noteShown, recall } from '../recall/recall.ts';
import { shownAll } from '../recall/shown.ts';
import type { Memory, OperationOptions, RememberResult } from '../types.ts';
import { toMemory } from '../write/record.ts';
import { type FurtherChanges, rememberSummary } from '../write/remember.ts';

/** A session without activity for this long is over. */
const IDLE = MILLISECONDS_PER_DAY;
const MOST_SUMMARIES = 5;
const MOST_MEMORIES = 10;
const NEIGHBOURS = 5;
const TITLE = 80;
/** Most memories in an automatic summary. */
const MOST_SHOWN = 20;

export interface SessionOptions extends OperationOptions {
  /** The scope of the session. Default is `global`. */
  readonly scope?: string | undefined;
}

export interface StartedSession {
  readonly sessionId: string;
  /** Whether the session was just started; false if an open one continues. */
  readonly isNew: boolean;
  /** Summaries of earlier sessions, newest first; at most 5. */
  readonly summaries: readonly Memory[];
  /** What matters whatever is asked, by the strategy `ambient`; at most 10. */
  readonly memories: readonly Hit<'ambient'>[];
}

/**
 * Starts a session, or continues the open one. A session without activity for 24 hours is closed first, with a summary
 * tagged `automatic`. It lists the memories of the session since its last summary that are visible from its scope and
 * still believed. Throws `invalid_scope`.
 */
export async function startSession(
  engine: Dependencies,
  options: SessionOptions = {},
): Promise<StartedSession> {
  const now = momentOf(engine, options);
  const asked = options.scope === undefined ? undefined : parseScope(options.scope);
  const { session, isNew } = await openedSession(engine, asked ?? GLOBAL_SCOPE, now, options);
  // The open session may have another scope. A caller never sees more than from the scope that it gives.
  const scope = asked ?? session.scope;
  const { memories, summaries } = await readAfterWrite(() => shownAtStart(engine, scope, now));
  return { sessionId: session.id, isNew, summaries, memories };
}

/** Reads what a session starts with, and notes that it was shown. Noting it twice at the same time leaves the same values. */
async function shownAtStart(
  engine: Dependencies,
  scope: string,
  at: Instant,
): Promise<Pick<StartedSession, 'summaries' | 'memories'>> {
  const now = new Date(at);
  const { hits } = await recall(engine, undefined, {
    strategy: 'ambient',
    scope,
    typesExclude: ['summary'],
    limit: MOST_MEMORIES,
    track: false,
    now,
  });
  const summaries = await summariesFor(engine, scope, at);
  await noteShown(engine, 'ambient', [...summaries, ...hits.map(({ memory }) => memory)], { now });
  return { summaries, memories: hits };
}

export interface CurrentSessionOptions extends OperationOptions {
  /** Whether to close a session that was idle for 24 hours and start another one in its place. Default is false. */
  readonly renew?: boolean | undefined;
}

/** Returns the id of the open session; `undefined` if none is open or it was idle for 24 hours. */
export async function currentSession(
  engine: Dependencies,
  options: CurrentSessionOptions = {},
): Promise<string | undefined> {
  const now = momentOf(engine, options);
  const last = await engine.space.session();
  if (!last || !isOver(last, now)) return last?.id;
  return options.renew ? (await openedSession(engine, last.scope, now, options)).session.id : undefined;
}

/** Returns the open session, unless it was idle for too long. */
async function openSession(engine: Dependencies, now: Instant): Promise<Session | undefined> {
  const last = await engine.space.session();
  return last && !isOver(last, now) ? last : undefined;
}

function isOver({ activeAt }: Session, now: Instant): boolean {
  return now - activeAt >= IDLE;
}

/**
 * Ends the open session with a summary. Throws `invalid_argument` for a blank one, and `not_found` if no session is
 * open or it was idle for 24 hours.
 */
export async function endSession(
  engine: Dependencies,
  summary: string,
  options: OperationOptions = {},
): Promise<RememberResult & { readonly sessionId: string }> {
  const now = momentOf(engine, options);
  text(summary, 'summary');
  const open = await openSession(engine, now);
  if (!open) throw noOpenSession();
  const remembered = await summarise(engine, open, summary, now, options, async (reader) => {
    const current = await reader.session(open.id);
    if (!current || current.endedAt !== undefined) return undefined;
    return [{ kind: 'session', session: ended(current, now) }];
  });
  if (!remembered) throw noOpenSession();
  return { ...remembered, sessionId: open.id };
}

/**
 * Saves a summary of the open session; without one, a summary that belongs to no session. Throws `invalid_argument` for
 * a blank summary.
 */
export async function saveSummary(
  engine: Dependencies,
  summary: string,
  options: SessionOptions = {},
): Promise<RememberResult> {
  const now = momentOf(engine, options);
  text(summary, 'summary');
  const open = await openSession(engine, now);
  const scope = options.scope === undefined ? (open?.scope ?? GLOBAL_SCOPE) : parseScope(options.scope);
  return (await summarise(engine, { id: open?.id, scope }, summary, now, options)) as RememberResult;
}

export interface Timeline {
  /** Oldest first; at most 5. */
  readonly before: readonly Memory[];
  readonly memory: Memory;
  /** Oldest first; at most 5. */
  readonly after: readonly Memory[];
}

/** Returns the memories that were remembered just before and just after one. Throws `not_found`. */
export async function timeline(engine: Dependencies, id: string): Promise<Timeline> {
  const { name } = engine.space;
  const [record] = await engine.space.get([id]);
  if (!record) throw notFound(id, name);
  const { before, after } = await engine.space.around(record, NEIGHBOURS);
  const all = await shownAll(engine, [...before, record, ...after], momentOf(engine, undefined));
  return {
    before: all.slice(0, before.length),
    memory: all[before.length] as Memory,
    after: all.slice(before.length + 1),
  };
}

async function openedSession(
  engine: Dependencies,
  scope: string,
  now: Instant,
  options: OperationOptions,
): Promise<{ readonly session: Session; readonly isNew: boolean }> {
  const session: Session = {
    id: engine.newId(now),
    scope,
    startedAt: now,
    activeAt: now,
    endedAt: undefined,
  };
  for (;;) {
    const open = await engine.space.session();
    const stale = open !== undefined && isOver(open, now);
    const next: Session = open && !stale ? { ...open, activeAt: Math.max(open.activeAt, now) } : session;
    let won = true;
    const furtherChanges: FurtherChanges = async (reader) => {
      const current = await reader.session();
      // Another process may have started or ended a session meanwhile.
      won = JSON.stringify(current) === JSON.stringify(open);
      if (!won) return undefined;
      const closed: readonly Change[] =
        open && stale ? [{ kind: 'session', session: ended(open, open.activeAt) }] : [];
      return [...closed, { kind: 'session', session: next }];
    };
    const said = open && stale ? await leftToSummarise(engine, open, now) : [];
    if (open && said.length > 0) {
      const { summary, shown } = automaticSummary(open, said, engine.limits.maxContentBytes);
      const unlessChanged: FurtherChanges = async (reader, written) => {
        const changes = await furtherChanges(reader, written);
        // The summary must not contain what was forgotten or corrected meanwhile.
        won &&= (await reader.get(shown.map(({ id }) => id))).every(
          (memory, at) =>
            memory?.content === shown[at]?.content &&
            memory?.title === shown[at]?.title &&
            memory?.scope === shown[at]?.scope &&
            memory?.invalidatedAt === undefined,
        );
        return won ? changes : undefined;
      };
      await summarise(engine, open, summary, now, options, unlessChanged, shown);
    } else {
      await engine.space.write({ verb: 'remember', at: now }, async (reader) => ({
        changes: (await furtherChanges(reader, [])) ?? [],
        result: undefined,
      }));
    }
    if (won) return { session: next, isNew: next === session };
  }
}

/**
 * Returns the memories of a session since its last summary that are believed as seen from its scope, because the
 * summary will be seen from there.
 */
async function leftToSummarise(
  { space }: Dependencies,
  session: Session,
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const memories = await space.find('sessionId', [session.id]);
  // By ordinal, not by time: a memory may be about something that happened earlier.
  const last = memories
    .filter(({ type }) => type === 'summary')
    .reduce<MemoryRecord | undefined>((a, b) => (a && a.ordinal > b.ordinal ? a : b), undefined);
  const summarisedAt = last && (textChangeOf(last) ?? last.createdAt);
  const said = memories.filter(
    (each) =>
      each.type !== 'summary' &&
      // A memory whose text has changed since the summary counts as new, at its original place.
      (!last || each.ordinal > last.ordinal || (textChangeOf(each) ?? 0) > (summarisedAt ?? 0)),
  );
  return believedAmong(space, said, { scopes: visibleScopes(session.scope) }, now);
}

async function summarise(
  engine: Dependencies,
  session: { readonly id: string | undefined; readonly scope: string },
  summary: string,
  now: Instant,
  options: OperationOptions,
  furtherChanges?: FurtherChanges,
  automaticFrom?: readonly MemoryRecord[],
): Promise<RememberResult | undefined> {
  const content = redactPrivate(summary);
  const input = {
    content,
    title: clip(content, TITLE, '...'),
    scope: session.scope,
    sessionId: session.id,
    tags: automaticFrom ? ['automatic'] : [],
    source: automaticFrom ? ('inferred' as const) : ('stated' as const),
  };
  const derivedFrom = automaticFrom?.map(({ id }) => id);
  return rememberSummary(
    engine,
    input,
    { signal: options.signal, now: new Date(now) },
    furtherChanges,
    derivedFrom,
  );
}

/** Builds a summary without a language model: one line per memory, as many as fit. Returns it with the memories in it. */
function automaticSummary(
  session: Session,
  said: readonly MemoryRecord[],
  maxBytes: number,
): { readonly summary: string; readonly shown: readonly MemoryRecord[] } {
  const day = formatInstant(session.startedAt).slice(0, 10);
  const count = said.length === 1 ? '1 memory' : `${said.length} memories`;
  const head = `Session of ${day}, closed after a day without activity; ${count}`;
  for (let most = Math.min(MOST_SHOWN, said.length); most > 0; most--) {
    const shown = said.slice(0, most);
    const lines = shown.map(({ title, content }) => `- ${firstLine(title ?? content)}`);
    const rest = said.length > most ? [`- and ${said.length - most} more`] : [];
    const summary = [`${head}:`, ...lines, ...rest].join('\n');
    if (Buffer.byteLength(summary) <= maxBytes) return { summary, shown };
  }
  // A session must end even if no summary fits. The head is ASCII, so a character is a byte.
  return { summary: head.slice(0, maxBytes), shown: [] };
}

function firstLine(content: string): string {
  const [line = ''] = content.split('\n', 1);
  return clip(line, 160);
}

async function summariesFor(
  { space }: Dependencies,
  scope: string,
  now: Instant,
): Promise<readonly Memory[]> {
  const scopes = visibleScopes(scope);
  const filter = { scopes, types: ['summary'], cold: true };
  const found: MemoryRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await space.list({ filter, limit: 4 * MOST_SUMMARIES, cursor });
    // Cold summaries are shown too, because a session after a long pause needs them. Stubs have lost their text.
    const whole = page.memories.filter(({ tier }) => tier !== 'stub');
    found.push(...(await believedAmong(space, whole, { scopes }, now)));
    cursor = page.nextCursor;
    if (found.length >= MOST_SUMMARIES || cursor === undefined) break;
  }
  return found.slice(0, MOST_SUMMARIES).map((each) => toMemory(each, space.name, false));
}

function ended(session: Session, at: Instant): Session {
  return { ...session, activeAt: Math.max(session.activeAt, at), endedAt: at };
}

function noOpenSession(): SalienceError {
  return new SalienceError(
    'not_found',
    'no session is open: start one with startSession, or keep a summary without one with saveSummary',
    {
      details: { field: 'session' },
    },
  );
}
