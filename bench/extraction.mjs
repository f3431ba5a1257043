// How many entities that a model finds in a conversation are stored correctly. Messages and labels are written by hand,
// and the model is a script with mistakes at a known rate, so this measures the handling of its answers, not a model.
import { openMemory } from '../dist/index.js';
import { scriptedModel } from '../dist/testing/index.js';
import { seeded } from './data.mjs';
import { round } from './measure.mjs';

const PEOPLE = [
  'Ada Lindqvist',
  'Bram de Vries',
  'Carmen Ortega',
  'Dmitri Volkov',
  'Élodie Marchand',
  'Farid Haddad',
  'Grace Okafor',
  'Hiro Tanaka',
  'Ines Carvalho',
  'Jonas Weber',
  'Katarzyna Nowak',
  'Liam O’Connor',
  'Mei-Ling Chen',
  'Noor Rahman',
  'Olga Petrova',
  'Pablo Ruiz',
  'Quentin Dubois',
  'Rosa Bianchi',
  'Søren Dahl',
  'Tove Eriksen',
  'Uma Krishnan',
  'Viktor Horvat',
  'Wanjiru Kamau',
  'Xavier Moreau',
  'Yusuf Demir',
  'Zoë van Dijk',
  'Ada Brandt',
  'Jonas Silva',
  'Mary Ann Clarke',
  'Theo Papadakis',
  'Lena Fischer',
  'Omar Farouk',
  'Priya Nair',
  'Sam Whitfield',
  'Tamara Ivić',
];
const ORGANISATIONS = [
  'Acme',
  'Northwind Traders',
  'Blue Heron Labs',
  'Kestrel Analytics',
  'Fjord Bank',
  'Oakridge Clinic',
  'Tern & Sons',
  'Helix Foods',
  'Studio Lumen',
  'Green Valley School',
  'Polaris Shipping',
  'Institute for River Studies',
  'Quill Press',
  'Mosaic Insurance',
  'Brightwater Council',
  'Umbra Games',
  'Solstice Energy',
  'Vantage Robotics',
  'Cedar Street Library',
  'Aurora Choir',
];
const PLACES = [
  'Oslo',
  'Porto',
  'Kraków',
  'Nairobi',
  'Kyoto',
  'New Haven',
  'San Sebastián',
  'Lake Bled',
  'Cape Town',
  'Reykjavík',
  'Ghent',
  'Valparaíso',
  'Tbilisi',
  'Galway',
  'Hoi An',
  'Uppsala',
  'Zürich',
  'Isle of Skye',
  'Santa Fe',
  'Tromsø',
];
const PROJECTS = [
  'Project Juniper',
  'Operation Teacup',
  'Harbour 2030',
  'Redwood Migration',
  'Atlas Rewrite',
  'Paperless Office',
  'Night Owl',
  'Compass API',
  'Meadow Survey',
  'Lantern App',
  'Orchard Study',
  'Glacier Backup',
  'Tidepool',
  'Second Spring',
  'Copper Beech',
  'Quiet Hours',
  'Ledger Merge',
  'Skylark Pilot',
  'Winter Garden',
  'Echo Archive',
];
const THINGS = ['Bosch GLM 40', 'Sony A7 IV', 'Model Y', 'Kindle Scribe', 'Brompton P Line'];
const KINDS = {
  person: PEOPLE,
  organisation: ORGANISATIONS,
  place: PLACES,
  project: PROJECTS,
  thing: THINGS,
};
const LABELLED = Object.entries(KINDS).flatMap(([kind, names]) => names.map((name) => ({ kind, name })));

/** Sentences with two names of these kinds, and how one is related to the other. */
const SENTENCES = [
  ['person', 'organisation', 'works_at', (a, b) => `${a} started at ${b} last month.`],
  ['person', 'place', 'lives_in', (a, b) => `I heard that ${a} moved to ${b} after the summer.`],
  ['person', 'project', 'works_on', (a, b) => `For now ${b} is run by ${a}, on two days a week.`],
  ['organisation', 'place', 'located_in', (a, b) => `The main office of ${a} is in ${b}, near the station.`],
  ['person', 'person', 'knows', (a, b) => `${a} introduced me to ${b} at the conference.`],
  ['person', 'person', 'reports_to', (a, b) => `${a}’s manager is ${b} since the reorganisation.`],
  ['organisation', 'project', 'owns', (a, b) => `${a} pays for ${b} until the end of the year.`],
  ['person', 'thing', 'uses', (a, b) => `${a} bought a ${b} and likes it so far.`],
  ['project', 'place', 'located_in', (a, b) => `The first workshop of ${a} takes place in ${b}.`],
  ['person', 'organisation', 'member_of', (a, b) => `Remember that ${a} is on the board of ${b}.`],
];

/** How often the script is wrong, of each name that it should have found. */
const MISTAKES = { missed: 0.05, invented: 0.05, misplaced: 0.03, misspelt: 0.03, otherCase: 0.05 };

/** 200 messages that name every labelled entity at least once. */
function conversation(count) {
  const random = seeded(11);
  const turn = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
  const next = (kind) => KINDS[kind][turn[kind]++ % KINDS[kind].length];
  return Array.from({ length: count }, (_, at) => {
    const [from, to, name, write] = SENTENCES[at % SENTENCES.length];
    const [a, b] = [next(from), next(to)];
    const said =
      random() < 0.2 ? `${write(a, b)} By the way, the coffee machine is broken again.` : write(a, b);
    return { content: said, names: [a, b], relation: { from: a, name, to: b } };
  });
}

export async function benchExtraction({ messages: count = 200, batch = 10 } = {}, log) {
  const messages = conversation(count);
  const bySentence = new Map(messages.map((each) => [each.content, each]));
  const kindOf = new Map(LABELLED.map(({ kind, name }) => [name, kind]));
  const random = seeded(5);
  const planted = Object.fromEntries(Object.keys(MISTAKES).map((name) => [name, 0]));
  const happens = (name) => random() < MISTAKES[name] && ++planted[name] > 0;
  const { model, requests } = scriptedModel(({ prompt }) => {
    const lines = prompt.split('\n').filter((line) => line.startsWith('{"n":'));
    const seen = lines.map((line) => JSON.parse(line));
    return {
      memories: seen.flatMap(({ n, content }) => {
        const known = bySentence.get(content);
        if (!known) return [];
        const entities = known.names.flatMap((name) => {
          if (happens('missed')) return [];
          const source = happens('misplaced') ? (n % seen.length) + 1 : n;
          const written = happens('misspelt')
            ? name.replace(/[aeiou]/, '')
            : happens('otherCase')
              ? name.toUpperCase()
              : name;
          return [{ name: written, kind: kindOf.get(name), aliases: [], mayBe: null, source }];
        });
        if (happens('invented'))
          entities.push({ name: `Invented ${n}`, kind: 'person', aliases: [], mayBe: null, source: n });
        return [
          {
            content,
            title: null,
            type: 'fact',
            tags: [],
            importance: 0.5,
            confidence: 'stated',
            validFrom: null,
            validUntil: null,
            sources: [n],
            entities,
            relations: [{ ...known.relation, source: n }],
          },
        ];
      }),
    };
  });
  const memory = await openMemory({ path: ':memory:', space: 'bench', languageModel: model });
  const total = { calls: 0, promptTokens: 0, completionTokens: 0, leftOut: 0, questions: 0 };
  for (let at = 0; at < messages.length; at += batch) {
    const { usage, graph } = await memory.observe(
      messages.slice(at, at + batch).map(({ content }) => ({ role: 'user', content })),
      { graph: true },
    );
    total.calls += usage.calls;
    total.promptTokens += usage.promptTokens ?? 0;
    total.completionTokens += usage.completionTokens ?? 0;
    total.leftOut += graph.leftOut.length;
    total.questions += graph.questions;
  }
  const found = await memory.entities(undefined, { limit: 1000 });
  const fold = (name) => name.normalize('NFC').toLowerCase();
  const labelled = new Set(LABELLED.map(({ name }) => fold(name)));
  const titles = found.map(({ title }) => fold(title));
  const right = new Set(titles.filter((title) => labelled.has(title)));
  const results = {
    messages: messages.length,
    labelled: labelled.size,
    ...total,
    requests: requests.length,
    planted,
    found: titles.length,
    precision: round(right.size / titles.length),
    recall: round(right.size / labelled.size),
    wrong: titles.filter((title) => !labelled.has(title)),
  };
  await memory.close();
  log('extraction', results);
  return results;
}
