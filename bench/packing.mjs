// The cost of packing: the exact selection for several distributions of memories, finding duplicates, counting tokens,
// and all of it together.
import { buildContext } from '../build/context/build.js';
import { repetitionsAmong } from '../build/context/duplicates.js';
import { pack } from '../build/context/pack.js';
import { loadTokenCounter, TOKEN_ENCODINGS } from '../build/context/tokens.js';
import { makeMemories, seeded } from './data.mjs';
import { round, summary, timeEach, timeProcess } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);

/** Score and tokens of one memory. The hard cases of the literature are those in which a score follows from the length. */
const shapes = {
  independent: (random) => [random(), 20 + Math.floor(random() * 181)],
  'score grows with length': (random) => {
    const tokens = 20 + Math.floor(random() * 181);
    return [0.8 * (tokens / 200) + 0.2 * random(), tokens];
  },
  'score is length plus a constant': (random) => {
    const tokens = 20 + Math.floor(random() * 181);
    return [(tokens + 20) / 220, tokens];
  },
  'score is length': (random) => {
    const tokens = 20 + Math.floor(random() * 181);
    return [tokens / 200, tokens];
  },
  'score is length plus a constant, even lengths': (random) => {
    const tokens = 20 + 2 * Math.floor(random() * 91);
    return [(tokens + 20) / 222, tokens];
  },
  'scores in tenths': (random) => [Math.ceil(random() * 10) / 10, 20 + Math.floor(random() * 181)],
  'lengths alike': (random) => [random(), 100 + Math.floor(random() * 10)],
  'long memories': (random) => [random(), 500 + Math.floor(random() * 3000)],
};

const sections = ['facts', 'profile', 'decisions', 'related', 'procedures'];
const shares = { facts: 0.15, profile: 0.15, decisions: 0.1, related: 0.1, procedures: 0.05 };

const settings = {
  '300 × 8,000': { count: 300, maxTokens: 8000, runs: 200 },
  '300 × 8,000, shares of five sections': { count: 300, maxTokens: 8000, runs: 200, shares },
  '300 × 8,000, at most 20': { count: 300, maxTokens: 8000, runs: 200, maxItems: 20 },
  '300 × 8,000, greedy': { count: 300, maxTokens: 8000, runs: 200, strategy: 'greedy' },
  '2,000 × 64,000': { count: 2000, maxTokens: 64_000, runs: 20 },
  '5,000 × 200,000': { count: 5000, maxTokens: 200_000, runs: 20 },
};

export async function benchPacking(log) {
  const packing = {};
  for (const [setting, { count, runs, ...options }] of Object.entries(settings)) {
    packing[setting] = {};
    for (const [shape, make] of Object.entries(shapes)) {
      const random = seeded(11);
      const inputs = Array.from({ length: runs }, () => makeCandidates(count, random, make));
      let lossShare = 0;
      const times = await timeEach(inputs, (candidates) => {
        const packed = pack(candidates, { duplicates: 'keep', ...options });
        lossShare = Math.max(lossShare, (packed.lossBound ?? 0) / packed.totalScore);
      });
      packing[setting][shape] = options.strategy ? times : { ...times, mostLossShare: round(lossShare) };
      log(`${setting}: ${shape}`, packing[setting][shape]);
    }
  }
  return { packing, ...(await benchText(log)) };
}

function makeCandidates(count, random, make) {
  return Array.from({ length: count }, (_, index) => {
    const [score, tokens] = make(random);
    const section = sections[Math.floor(random() * sections.length)];
    return { id: `m${index}`, type: 'fact', content: '', at: now, source: 'stated', score, tokens, section };
  });
}

async function benchText(log) {
  const random = seeded(12);
  const made = makeMemories(300, now, 12);
  const candidates = made.map(({ id, content, type, createdAt }) => ({
    id,
    content,
    type,
    at: Date.parse(createdAt),
    source: 'stated',
    score: random(),
  }));
  const repeat = (work) => timeEach(Array.from({ length: 100 }), work);
  const repetitions = await repeat(() => repetitionsAmong(candidates));
  log('repetitions among 300', repetitions);

  const counting = {};
  for (const encoding of TOKEN_ENCODINGS) {
    const script = `const { loadTokenCounter } = await import(${JSON.stringify(new URL('../build/context/tokens.js', import.meta.url).href)});`;
    const load = `(await loadTokenCounter('${encoding}'))(['one']);`;
    const without = timeProcess(process.execPath, ['--input-type=module', '-e', script]);
    const withIt = timeProcess(process.execPath, ['--input-type=module', '-e', script + load]);
    counting[encoding] = {
      loadMs: round(withIt.p50 - without.p50),
      ...(await countingSpeed(await loadTokenCounter(encoding))),
    };
    log(encoding, counting[encoding]);
  }

  const countTokens = await loadTokenCounter();
  const randomBytes = (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
  const whole = await repeat(() =>
    buildContext(candidates, { maxTokens: 8000 }, { countTokens, randomBytes }),
  );
  log('300 memories to 8,000 tokens', whole);
  return { repetitions, counting, buildContext: whole };
}

/** Texts that were not counted before, and the same texts again: the tokenizer remembers the words it has met. */
async function countingSpeed(countTokens) {
  const rates = [1, 2, 3, 4, 5].map((seed) => {
    const texts = makeMemories(2000, now, 100 + seed).map(({ content }) => content);
    const time = () => {
      const started = performance.now();
      const tokens = countTokens(texts).reduce((sum, each) => sum + each, 0);
      return (performance.now() - started) / tokens;
    };
    return [time(), time()];
  });
  const perSecond = (at) => Math.round((1000 / summary(rates.map((rate) => rate[at] * 1e6)).p50) * 1e6);
  return { newTextsTokensPerSecond: perSecond(0), knownTextsTokensPerSecond: perSecond(1) };
}
