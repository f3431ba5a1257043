import type { MemoryEngine } from '../../../src/index.ts';
import { useAsk } from '../../api.ts';
import { lazy } from '../../parts/lazy.tsx';
import { Failure, Loading } from '../../parts/states.tsx';

const Chart = lazy('chart', () => import('../../parts/chart.tsx'));

const DAYS = 30;
const DAY_MS = 86_400_000;
const PAGE = 1000;
/** The most entries of each log that are counted. */
const MOST = 10_000;

/** Writes and recorded recalls of the last 30 days, by day. */
export function Days() {
  const { answer, error, reload } = useAsk(countDays, []);
  return (
    <section class="stack">
      <h2>The last {DAYS} days</h2>
      {error ? (
        <Failure error={error} retry={reload} />
      ) : !answer ? (
        <Loading />
      ) : (
        <>
          <Chart times={answer.times} series={answer.series} min={0} max={answer.highest} />
          <details>
            <summary>As a list</summary>
            <ul class="days">
              {answer.days.map(({ day, writes, recalls }) => (
                <li key={day}>
                  <time>{day}</time> {writes} writes, {recalls} recalls
                </li>
              ))}
            </ul>
          </details>
          <p class="quiet">
            Days are those of UTC. Recalls are counted where the space records them.
            {answer.cut && ` Only the latest ${MOST.toLocaleString('en')} of each are counted.`}
          </p>
        </>
      )}
    </section>
  );
}

async function countDays(memory: MemoryEngine, signal: AbortSignal) {
  const today = Math.floor(Date.now() / DAY_MS);
  const first = today - DAYS + 1;
  const [writes, recalls] = await Promise.all([
    latest(first, async (before: number | undefined) => {
      const found = await memory.operations({ limit: PAGE, before, signal });
      return { times: found.map(({ at }) => at), next: found.at(-1)?.operation };
    }),
    latest(first, async (before: string | undefined) => {
      const found = await memory.recalls({ limit: PAGE, before, signal });
      return { times: found.map(({ at }) => at), next: found.at(-1)?.recallId };
    }),
  ]);
  const days = Array.from({ length: DAYS }, (_, index) => ({
    day: new Date((first + index) * DAY_MS).toISOString().slice(0, 10),
    writes: writes.filter((day) => day === first + index).length,
    recalls: recalls.filter((day) => day === first + index).length,
  }));
  return {
    days: days.toReversed(),
    cut: Math.max(writes.length, recalls.length) >= MOST,
    times: days.map((_, index) => ((first + index) * DAY_MS) / 1000),
    highest: Math.max(4, ...days.map((day) => Math.max(day.writes, day.recalls))),
    series: [
      { title: 'writes', colour: '--part-0', values: days.map((day) => day.writes), bars: true },
      { title: 'recalls', colour: '--part-2', values: days.map((day) => day.recalls) },
    ],
  };
}

/** Returns the days of a log's entries since a given day. Reads the log from its end. */
async function latest<Place>(
  first: number,
  page: (
    before: Place | undefined,
  ) => Promise<{ readonly times: readonly string[]; readonly next: Place | undefined }>,
): Promise<readonly number[]> {
  const days: number[] = [];
  let before: Place | undefined;
  do {
    const { times, next } = await page(before);
    days.push(...times.map((at) => Math.floor(Date.parse(at) / DAY_MS)));
    before = times.length < PAGE || (days.at(-1) ?? 0) < first ? undefined : next;
  } while (before !== undefined && days.length < MOST);
  return days.filter((day) => day >= first);
}
