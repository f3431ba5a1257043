import type { MemoryEngine, RememberOptions } from '../index.ts';

const DAY = 86_400_000;

type DemoMemory = readonly [daysAgo: number, content: string, options?: RememberOptions];

/** Half a year of memories of an assistant at a small coffee roastery. */
const MEMORIES: readonly DemoMemory[] = [
  [180, 'The roastery', { id: 'harbour', type: 'entity', title: 'Harbour Roasters', kind: 'organisation' }],
  [
    180,
    'Runs the roastery',
    { id: 'ann', type: 'entity', title: 'Ann Lindqvist', kind: 'person', aliases: ['Ann'] },
  ],
  [
    179,
    'Builds and runs the shop',
    { id: 'bilal', type: 'entity', title: 'Bilal Haddad', kind: 'person', aliases: ['Bilal'] },
  ],
  [
    178,
    'Imports green coffee',
    { id: 'verde', type: 'entity', title: 'Verde Imports', kind: 'organisation' },
  ],
  [178, 'The online shop', { id: 'shop', type: 'entity', title: 'Harbour shop', kind: 'project' }],
  [
    176,
    'Ann prefers dark roast coffee in the morning, without milk',
    { id: 'dark', type: 'preference', author: 'Ann', tags: ['taste'], importance: 0.6 },
  ],
  [
    175,
    'The roaster is a Probat P12 from 2011; a batch is at most 12 kg',
    { id: 'probat', tags: ['equipment'] },
  ],
  [
    171,
    'Green coffee is ordered from Verde Imports on the first Monday of the month',
    { id: 'order-day', type: 'procedure', topicKey: 'green/order-day' },
  ],
  [
    168,
    'Deploys of the shop happen on Thursdays',
    {
      id: 'deploy',
      type: 'decision',
      topicKey: 'shop/deploy-day',
      scope: 'project:shop',
      author: 'Bilal',
    },
  ],
  [
    166,
    'The shop runs on PostgreSQL 15',
    { id: 'database', scope: 'project:shop', topicKey: 'shop/database' },
  ],
  [
    160,
    'Customers ask for the roast date on every bag',
    { id: 'roast-date', type: 'discovery', tags: ['customers'], importance: 0.7 },
  ],
  [
    152,
    'Never grind coffee before shipping unless the order says so',
    { id: 'no-grind', type: 'rule', importance: 0.9, tags: ['orders'] },
  ],
  [
    150,
    'The Ethiopian Guji tastes of bergamot and peach at a light roast',
    { id: 'guji', tags: ['taste', 'coffee'] },
  ],
  [
    147,
    'The Sumatra Lintong is earthy, and best at a dark roast',
    { id: 'lintong', tags: ['taste', 'coffee'] },
  ],
  [141, 'Shipping within Sweden takes two days with PostNord', { id: 'postnord', tags: ['orders'] }],
  [
    133,
    'A subscription customer may skip one delivery a month',
    { id: 'skip', type: 'rule', scope: 'project:shop', tags: ['orders'] },
  ],
  [
    126,
    'The landlord raised the rent of the workshop to 14,200 kronor',
    { id: 'rent', type: 'event', topicKey: 'workshop/rent' },
  ],
  [
    121,
    'Bilal is allergic to hazelnuts',
    { id: 'hazelnut', type: 'profile', author: 'Bilal', importance: 0.95 },
  ],
  [
    117,
    'The checkout lost orders when two tabs were open; fixed by an idempotency key',
    { id: 'checkout-bug', type: 'learning', scope: 'project:shop', tags: ['incident'] },
  ],
  [
    110,
    'The drum bearing of the roaster squeaks above 200 °C',
    { id: 'bearing', type: 'discovery', tags: ['equipment'] },
  ],
  [
    104,
    'The drum bearing of the roaster was replaced by Kaffeteknik for 3,900 kronor',
    { id: 'bearing-done', type: 'event', tags: ['equipment'] },
  ],
  [
    97,
    'Deploys of the shop happen on Tuesdays',
    {
      id: 'deploy-tue',
      type: 'decision',
      topicKey: 'shop/deploy-day',
      scope: 'project:shop',
      author: 'Bilal',
    },
  ],
  [
    93,
    'The espresso blend is 60 % Lintong and 40 % Santos',
    { id: 'blend', topicKey: 'coffee/espresso-blend', tags: ['coffee'] },
  ],
  [
    88,
    'Café Solstugan orders 8 kg of the espresso blend every two weeks',
    { id: 'solstugan', tags: ['customers', 'orders'] },
  ],
  [
    83,
    'Ann wants prices shown with tax',
    { id: 'tax', type: 'preference', scope: 'project:shop', author: 'Ann' },
  ],
  [
    77,
    'Roast curves are kept in Artisan, one file for each batch',
    { id: 'artisan', type: 'procedure', tags: ['equipment'] },
  ],
  [70, 'The workshop closes from 22 to 27 December', { id: 'christmas', type: 'plan' }],
  [
    64,
    'The mail provider blocks attachments over 10 MB',
    { id: 'mail', source: 'extracted', confidence: 0.6 },
  ],
  [
    58,
    'A cupping with five customers chose the Guji over the Sidamo',
    { id: 'cupping', type: 'event', tags: ['taste', 'customers'] },
  ],
  [
    52,
    'The espresso blend is 50 % Lintong, 30 % Santos and 20 % Guji',
    { topicKey: 'coffee/espresso-blend', tags: ['coffee'] },
  ],
  [47, 'The shop moved to PostgreSQL 17', { scope: 'project:shop', topicKey: 'shop/database' }],
  [
    43,
    'Refunds above 500 kronor need a word from Ann',
    { id: 'refunds', type: 'rule', importance: 0.8, author: 'Ann', scope: 'project:shop' },
  ],
  [
    38,
    'Verde Imports has raised the price of Santos by 9 %',
    { id: 'santos-price', type: 'event', source: 'extracted' },
  ],
  [
    33,
    'Bags of 250 g sell three times as often as bags of 1 kg',
    { id: 'bags', type: 'discovery', scope: 'project:shop' },
  ],
  [
    27,
    'Café Solstugan orders 12 kg of the espresso blend every two weeks',
    { id: 'solstugan-more', tags: ['customers', 'orders'] },
  ],
  [21, 'Ann is learning to repair the Probat herself', { id: 'repair', type: 'profile', author: 'Ann' }],
  [
    16,
    'Ann prefers light roast coffee in the morning, without milk',
    { id: 'light', type: 'preference', author: 'Ann', tags: ['taste'] },
  ],
  [
    12,
    'The new label has the roast date, the farm and the harvest',
    { id: 'label', type: 'decision', tags: ['customers'] },
  ],
  [
    8,
    'Staging of the shop has the data of last Sunday',
    { id: 'staging', type: 'transient_state', scope: 'project:shop' },
  ],
  [
    5,
    'The next green order is 240 kg, half of it Lintong',
    { id: 'next-order', type: 'plan', tags: ['orders'] },
  ],
  [
    2,
    'A customer in Gothenburg received a bag roasted five weeks ago',
    { id: 'stale-bag', type: 'event', tags: ['customers', 'incident'] },
  ],
  [
    1,
    'The Probat needs a new thermocouple before the next large batch',
    { id: 'thermocouple', type: 'discovery', tags: ['equipment'], importance: 0.8 },
  ],
];

const RELATIONS = [
  ['ann', 'works_at', 'harbour'],
  ['bilal', 'works_at', 'harbour'],
  ['bilal', 'maintains', 'shop'],
  ['harbour', 'buys_from', 'verde'],
  ['harbour', 'owns', 'shop'],
] as const;

const LINKS = [
  ['bearing', 'bearing-done'],
  ['blend', 'lintong'],
  ['blend', 'guji'],
  ['stale-bag', 'roast-date'],
  ['probat', 'thermocouple'],
  ['checkout-bug', 'skip'],
] as const;

const QUESTIONS = [
  [30, 'which coffee goes into the espresso blend?'],
  [26, 'when do we deploy the shop?'],
  [20, 'what is wrong with the roaster?'],
  [14, 'what may I not give Bilal to eat?'],
  [9, 'what does Ann drink in the morning?'],
  [6, 'how much does Café Solstugan order?'],
  [3, 'rules for orders and refunds'],
  [1, 'which database does the shop run on?'],
  [0.2, 'what do customers complain about?'],
] as const;

/** Fills an empty space with half a year of memories that ends now. `clock` is the clock of the space. */
export async function fillDemo(memory: MemoryEngine, clock: { now: number }): Promise<void> {
  const end = clock.now;
  const steps: readonly (readonly [daysAgo: number, () => Promise<unknown>])[] = [
    [181, () => memory.configure({ fading: 'retention', recordRecalls: { days: 365, texts: true } })],
    ...MEMORIES.map(
      ([daysAgo, content, options]) => [daysAgo, () => memory.remember(content, options)] as const,
    ),
    ...RELATIONS.map(([from, name, to]) => [150, () => memory.relate(from, name, to)] as const),
    ...LINKS.map(([from, to]) => [0.5, () => memory.link(from, to)] as const),
    [10, () => memory.update('label', { importance: 0.7, tags: ['customers', 'packaging'] })],
    [7, () => memory.update('label', { content: LABEL })],
    [4, () => memory.invalidate('mail', 'the provider was changed')],
    ...QUESTIONS.map(([daysAgo, query]) => [daysAgo, () => ask(memory, query)] as const),
    [3, () => memory.feedback('blend', 'up', { voter: 'Ann' })],
    [2.5, () => memory.feedback('no-grind', 'up', { voter: 'Bilal' })],
    [2, () => memory.feedback('postnord', 'down', { voter: 'Ann' })],
  ];
  for (const [daysAgo, step] of steps.toSorted(([a], [b]) => b - a)) {
    clock.now = end - daysAgo * DAY;
    await step();
  }
  clock.now = end;
}

const LABEL = 'The new label shows the roast date, the farm, the variety and the harvest';

/** Asks like an agent, which then uses the first results. */
async function ask(memory: MemoryEngine, query: string): Promise<void> {
  const { hits } = await memory.recall(query, { limit: 6 });
  const used = hits.slice(0, 2).map((hit) => hit.memory.id);
  if (used.length > 0) await memory.markUsed(used);
}
