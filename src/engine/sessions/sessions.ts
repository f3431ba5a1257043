import { text } from '../../domain/check.ts';
import { clip } from '../../domain/clip.ts';
import { SalienceError } from '../../domain/errors.ts';
import { type MemoryRecord, textChangeOf } from '../../domain/memory.ts';
import { redactPrivate } from '../../domain/redaction.ts';
import { GLOBAL_SCOPE, parseScope, visibleScopes } from '../../domain/scope.ts';
import { formatInstant, type Instant, MILLISECONDS_PER_DAY } from '../../domain/time.ts';
import type { Change, Session } from '../../store/store.ts';
import { believedAmong } from '../belief/supersession.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import type { Hit } from '../recall/hit.ts';
import { noteShown, recall } from '../recall/recall.ts';
import { shownAll } from '../recall/shown.ts';
import type { Memory, OperationOptions, RememberResult } from '../types.ts';
import { toMemory } from '../write/record.ts';
import { type FurtherChanges, rememberSummary } from '../write/remember.ts';

/** A session in which nothing happens for so long is over. */
const IDLE = MILLISECONDS_PER_DAY;
const MOST_SUMMARIES = 5;
const MOST_MEMORIES = 10;
const NEIGHBOURS = 5;
const TITLE = 80;
/** Memories that an automatic summary names. */
const MOST_SHOWN = 20;

export interface SessionOptions extends OperationOptions {
  /** Where the session takes place. Default is `global`. */
  readonly scope?: string | undefined;
}

export interface StartedSession {
  readonly sessionId: string;
  /** False when an open session goes on. */
  readonly isNew: boolean;
  /** Of earlier sessions, newest first; at most 5. */
  readonly summaries: readonly Memory[];
  /** What matters regardless of the question, by the strategy `ambient`; at most 10. */
  readonly memories: readonly Hit<'ambient'>[];
}

/**
 * Starts a session, or continues the open one. A session in which nothing happened for 24 hours is closed first, with a summary tagged
 * `automatic`: what was remembered in it since its last summary, is visible from its scope and is still true. Throws `invalid_scope`.
 */
export async function startSession(
  engine: Dependencies,
  options: SessionOptions = {},
): Promise<StartedSession> {
  const now = momentOf(engine, options);
  const asked = options.scope === undefined ? undefined : parseScope(options.scope);
  const { session, isNew } = await openedSession(engine, asked ?? GLOBAL_SCOPE, now, options);
  // The open session may take place elsewhere: nobody sees more than from where they ask.
  const scope = asked ?? session.scope;
  const { hits } = await recall(engine, undefined, {
    strategy: 'ambient',
    scope,
    typesExclude: ['summary'],
    limit: MOST_MEMORIES,
    track: false,
    now: new Date(now),
    signal: options.signal,
  });
  const summaries = await summariesFor(engine, scope, now);
  const shown = [...summaries, ...hits.map(({ memory }) => memory)];
  await noteShown(engine, 'ambient', shown, { now: new Date(now) });
  return { sessionId: session.id, isNew, summaries, memories: hits };
}

export interface CurrentSessionOptions extends OperationOptions {
  /** A session that was idle for 24 hours is closed, and another one started in its place. Default is false. */
  readonly renew?: boolean | undefined;
}

/** The id of the open session; `undefined` when none is open, or nothing happened in it for 24 hours. */
export async function currentSession(
  engine: Dependencies,
  options: CurrentSessionOptions = {},
): Promise<string | undefined> {
  const now = momentOf(engine, options);
  const last = await engine.space.session();
  if (!last || !isOver(last, now)) return last?.id;
  return options.renew ? (await openedSession(engine, last.scope, now, options)).session.id : undefined;
}

/** The open session, unless nothing happened in it for so long that it is over. */
async function openSession(engine: Dependencies, now: Instant): Promise<Session | undefined> {
  const last = await engine.space.session();
  return last && !isOver(last, now) ? last : undefined;
}

function isOver({ activeAt }: Session, now: Instant): boolean {
  return now - activeAt >= IDLE;
}

/**
 * Ends the open session with a summary. Throws `invalid_argument` for a blank one, `not_found` when none is open; one
 * that was idle for 24 hours is over.
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

/** Saves a summary of the open session, or of no session when none is open. Throws `invalid_argument` for a blank one. */
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

/** What was remembered just before and just after a memory. Throws `not_found`. */
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
      // Another process started or ended a session meanwhile.
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
        // What was forgotten or corrected meanwhile must not stand in a summary.
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
 * What was remembered in a session since its last summary, as far as it is believed now where the session takes place: its summary is
 * seen from there.
 */
async function leftToSummarise(
  { space }: Dependencies,
  session: Session,
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const memories = await space.find('sessionId', [session.id]);
  // In the order in which they came: what is remembered may have happened earlier.
  const last = memories
    .filter(({ type }) => type === 'summary')
    .reduce<MemoryRecord | undefined>((a, b) => (a && a.ordinal > b.ordinal ? a : b), undefined);
  const summarisedAt = last && (textChangeOf(last) ?? last.createdAt);
  const said = memories.filter(
    (each) =>
      each.type !== 'summary' &&
      // What has another text since is said anew, where it was first said before.
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

/** Without a language model: what was remembered, one line each, as many as fit; and the memories that it shows. */
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
  // A session that cannot be summarised must still end. Every character of this is one byte.
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
    // What has faded is shown all the same, unless its text is gone: a session after a long pause begins with it.
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
