// Ablations of `hybrid`: asks the same questions without one of its parts, on the conversations in $SALIENCE_DATA.
// Nothing is refitted, so a row shows what is lost without the part, not what the best formula without it would reach.

import { readEnglishDates } from '../build/text/dates/dates.js';
import { openMemory } from '../dist/index.js';
import { DEPTH, measureSet } from './evaluation.mjs';

/** A named day, month, season or year. What is left counts from today: "last week", "yesterday", "on Sunday". */
const ABSOLUTE =
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter)|\b(?:19|20)\d{2}\b|\d(?:st|nd|rd|th)\b/i;

/** The changes of the formula, by the name of the row. */
const VARIANTS = {
  hybrid: {},
  'without the words around': { replace: { words: { op: 'signal', name: 'lexical' } } },
  'without the session': { set: { 'weights.session': 0 } },
  'without similarity': { set: { 'weights.similarity': 0 } },
  'without the author': { set: { 'cues.author': 0 } },
  'without dates': { set: { 'cues.date': 0 } },
  'without relative dates': { dates: (text) => ABSOLUTE.test(text) },
  'without dates of the calendar': { dates: (text) => !ABSOLUTE.test(text) },
  'without who said it': { set: { 'cues.role': 0 } },
  'without recency': { replace: { recency: 1 } },
  'without links and possible updates': { association: 'none' },
};

export async function benchAblations(directory, log, sets = ['locomo-dev', 'beam-dev']) {
  const measured = [];
  const dates = {};
  for (const name of sets) {
    const engine = ablationEngine();
    measured.push(await measureSet(name, { directory, strategies: Object.keys(VARIANTS), engine, log }));
    dates[name] = engine.dates;
  }
  return {
    dates,
    results: measured.flatMap(({ results }) => results),
    differences: measured.flatMap(({ differences }) => differences),
  };
}

/** The engine, in which a strategy is a variant. Spaces come one after the other, and so do questions. */
function ablationEngine() {
  let variant = VARIANTS.hybrid;
  /** Questions of each kind of date that the whole formula read. */
  const dates = { relative: 0, calendar: 0 };
  const dateReader = async (text, context) => {
    const all = await readEnglishDates(text, context);
    const { dates: isKept = () => true } = variant;
    return all.filter((each) => isKept(each.text));
  };
  const profiles = Object.entries(VARIANTS).flatMap(([name, { set, replace }]) =>
    set || replace
      ? [{ name: profileOf(name), description: name, extends: 'hybrid', ...(set ? { set } : { replace }) }]
      : [],
  );
  const known = new Set(profiles.map(({ name }) => name));
  return {
    dates,
    async open(space) {
      const memory = await openMemory({
        path: ':memory:',
        ...{ space, profiles, dateReader, maxContentBytes: Number.POSITIVE_INFINITY },
      });
      return {
        load: (memories) => loadInOrder(memory, memories),
        async rank(query, { strategy, now, limit }) {
          variant = VARIANTS[strategy];
          const own = profileOf(strategy);
          const { hits, trace } = await memory.recall(query, {
            strategy: known.has(own) ? own : 'hybrid',
            now: new Date(now),
            limit,
            track: false,
            ...(variant.association && { association: variant.association }),
          });
          // A question may be ranked again to a greater depth.
          if (variant === VARIANTS.hybrid && limit === DEPTH && trace.dates) {
            const absolute = trace.dates.some(({ text }) => ABSOLUTE.test(text));
            const relative = trace.dates.some(({ text }) => !ABSOLUTE.test(text));
            dates.calendar += absolute ? 1 : 0;
            dates.relative += relative ? 1 : 0;
          }
          return { hits: hits.map(({ memory: { id }, score }) => ({ id, score: score.value })) };
        },
        close: () => memory.close(),
      };
    },
  };
}

function profileOf(variant) {
  return variant.replaceAll(' ', '-');
}

/** Loads memories as `salience eval` does: in the order of the dataset, followed by maintenance. */
export async function loadInOrder(memory, memories) {
  const now = new Date(memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0));
  const kept = new Map();
  const inputs = memories.map(({ session, createdAt, ...fields }) => ({
    ...fields,
    sessionId: session,
    createdAt: new Date(createdAt),
  }));
  for (let start = 0; start < inputs.length; start += 1000) {
    const batch = inputs.slice(start, start + 1000);
    for (const [at, { id }] of (await memory.rememberMany(batch, { now })).entries()) {
      if (id !== batch[at].id) kept.set(batch[at].id, id);
    }
  }
  while ((await memory.maintain({ now, fade: false })).compared > 0);
  return kept;
}
