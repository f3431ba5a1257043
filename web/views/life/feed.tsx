import { useEffect, useState } from 'preact/hooks';
import type { Activity, MemoryEngine } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { ago, moment } from '../../parts/time.ts';
import { href } from '../../router.ts';
import { session } from '../../session.ts';

type Entry = Omit<Activity['entries'][number], 'kind'> &
  Partial<{ readonly operation: number; readonly verb: string; readonly strategy: string }>;

interface Part {
  readonly entries: readonly Entry[];
  readonly position: string;
}

const WAIT_MS = 30_000;
const FIRST = 30;
const MOST = 100;

/** Live feed of writes and uses by all processes, newest first. */
export function Feed() {
  const [paused, setPaused] = useState(false);
  const [position, setPosition] = useState<string>();
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const {
    answer,
    error: failed,
    pending,
    reload,
  } = useAsk<Part>(
    paused
      ? undefined
      : (memory, signal) =>
          position === undefined
            ? latest(memory, signal)
            : memory.activity(position, { wait: WAIT_MS, limit: MOST, signal }),
    [position, paused],
  );
  // While a new request waits for events, which may take long, the earlier error is over.
  const error = pending ? undefined : failed;
  useEffect(() => {
    if (!answer) return;
    if (answer.position === position) return reload();
    const came = new Set(answer.entries.map(keyOf));
    setEntries((before) =>
      [...answer.entries.toReversed(), ...before.filter((each) => !came.has(keyOf(each)))].slice(0, MOST),
    );
    setPosition(answer.position);
  }, [answer]);
  /** Restarts the feed: a space that was deleted and created again has a new log, where old positions mean nothing. */
  const beginAnew = () => {
    setEntries([]);
    setPosition(undefined);
    reload();
  };
  const texts = useTexts(entries);
  return (
    <section class="stack">
      <div class="row spread">
        <h2>What happens</h2>
        <button type="button" class="small" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? 'Paused' : 'Pause'}
        </button>
      </div>
      {error && <Failure error={error} retry={beginAnew} />}
      {position === undefined && !error && !paused && <Loading />}
      {position !== undefined && entries.length === 0 && (
        <p class="quiet">Nothing yet. What is written or used, by any process, appears here.</p>
      )}
      <ol class="lines heaped feed" aria-live="off">
        {entries.map((entry) => (
          <FeedLine key={keyOf(entry)} entry={entry} text={texts.get(entry.ids[0] ?? '')?.text} />
        ))}
      </ol>
    </section>
  );
}

function FeedLine({ entry, text }: { readonly entry: Entry; readonly text: string | undefined }) {
  const { at, ids, operation, verb, strategy } = entry;
  const [first, ...others] = ids;
  return (
    <li>
      <span class="row">
        {verb === undefined ? (
          <span class="tag good">used · {strategy}</span>
        ) : (
          <span class="tag">{verb}</span>
        )}
        <time class="quiet" dateTime={at} title={moment(at)}>
          {ago(at)}
        </time>
        {operation !== undefined && <span class="quiet number">#{operation}</span>}
      </span>
      {first !== undefined && (
        <a class="stored clamp" href={href('memories', {}, first)}>
          {text ?? first}
        </a>
      )}
      {others.length > 0 && <span class="quiet">and {others.length.toLocaleString('en')} more</span>}
    </li>
  );
}

/** Returns the start of the feed: the latest writes, and the position after them. */
async function latest(memory: MemoryEngine, signal: AbortSignal): Promise<Part> {
  const { position } = await memory.activity('end', { signal });
  // Sessions limited to some scopes get new events, but not the log of the whole space.
  if (session.get()?.grant.scopes) return { entries: [], position };
  const operations = await memory.operations({ limit: FIRST, signal });
  return { entries: operations.toReversed(), position };
}

function keyOf({ operation, at, strategy, ids }: Entry): string {
  return operation === undefined ? JSON.stringify([at, strategy, ids]) : String(operation);
}

interface Text {
  readonly text: string;
  /** The entry after which it was asked for. */
  readonly after: string | undefined;
}

/** Fetches the texts of memories, again for each new entry about one, because it may have changed or been forgotten. */
function useTexts(entries: readonly Entry[]): ReadonlyMap<string, Text> {
  const [texts, setTexts] = useState<ReadonlyMap<string, Text>>(new Map());
  const latest = new Map<string, string>();
  for (const entry of entries.toReversed()) for (const id of entry.ids) latest.set(id, keyOf(entry));
  const shown = [...new Set(entries.flatMap(({ ids }) => ids.slice(0, 1)))];
  const missing = shown.filter((id) => texts.get(id)?.after !== latest.get(id));
  const { answer } = useAsk(
    missing.length === 0
      ? undefined
      : async (memory, signal) =>
          Promise.all(
            missing.map(async (id) => {
              const found = await memory.get(id, { signal });
              return [id, { text: found?.title ?? found?.content ?? id, after: latest.get(id) }] as const;
            }),
          ),
    [JSON.stringify(missing.map((id) => [id, latest.get(id)]))],
  );
  useEffect(() => {
    if (answer) setTexts((before) => new Map([...before, ...answer]));
  }, [answer]);
  return texts;
}
