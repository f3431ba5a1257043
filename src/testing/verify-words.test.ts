import { expect, test } from 'vitest';
import { type Explanation, formatExplanation, openMemory, type WordCounts } from '../index.ts';
import { verifyExplanation } from './verify-explanation.ts';

const long = Array.from({ length: 30 }, (_, at) => `stone${at}`).join(' ');

/** The explanations of a query that finds something alone, in its neighbours and in its session. */
async function explanations(): Promise<readonly Explanation[]> {
  await using memory = await openMemory({ path: ':memory:', space: 'test', embedder: 'none' });
  const said = [
    'Who grows beans?',
    'Ann does, in Porto',
    `She likes coffee ${long}`,
    'So do I',
    'Coffee, coffee',
  ];
  for (const content of said) await memory.remember(content, { sessionId: 'a' });
  await memory.remember('Tea comes from Assam', { sessionId: 'b' });
  await memory.remember('Ann drinks coffee');
  const { hits } = await memory.recall('coffee beans of Ann', { limit: 20 });
  expect(hits.length).toBeGreaterThan(5);
  return hits.map((hit) => hit.explain());
}

/** The nodes of a tree that were made from counts, each with a way to replace it in a copy of the tree. */
function counted(tree: Explanation): readonly WordCounts[] {
  return [...(tree.detail.words ? [tree.detail.words] : []), ...tree.inputs.flatMap(counted)];
}

const copyOf = (tree: Explanation): Explanation => JSON.parse(JSON.stringify(tree));

/** Every place in a value that holds a whole number. */
function integers(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (Number.isInteger(value)) return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => integers(inner, [...path, key]));
}

function alter(value: unknown, path: readonly (string | number)[], by: number): void {
  const holder = path.slice(0, -1).reduce((inner, key) => (inner as Record<string, unknown>)[key], value);
  (holder as Record<string, number>)[path.at(-1) as string]! += by;
}

test('signals of words add up from their counts, and with any one of them altered they do not', async () => {
  let altered = 0;
  for (const tree of await explanations()) {
    verifyExplanation(tree);
    verifyExplanation(copyOf(tree));
    counted(tree).forEach((counts, at) => {
      for (const path of integers(counts)) {
        for (const by of [1, -1]) {
          const copy = copyOf(tree);
          alter(counted(copy)[at], path, by);
          expect(() => verifyExplanation(copy), `${path.join('.')} by ${by}`).toThrow('does not add up');
          altered++;
        }
      }
    });
  }
  expect(altered).toBeGreaterThan(200);
});

test('a value that its counts do not give is refused, though all above it follows', async () => {
  const [tree] = await explanations();
  const leaf = (function find(each: Explanation): Explanation | undefined {
    return each.detail.words ? each : each.inputs.map(find).find((found) => found !== undefined);
  })(copyOf(tree as Explanation)) as { value: number } & Explanation;
  verifyExplanation(leaf);
  leaf.value += 2 ** -53;
  expect(() => verifyExplanation(leaf)).toThrow('its counts give the value');
});

test('whether a neighbour asks is part of its weight', async () => {
  const tree = copyOf(
    (await explanations()).find((each) => counted(each)[0]?.neighbours[0]?.asks) as Explanation,
  );
  (counted(tree)[0]?.neighbours[0] as { asks: boolean }).asks = false;
  expect(() => verifyExplanation(tree)).toThrow('weight of');
});

test('an explanation is drawn with the words of the query as they were written', async () => {
  const drawn = (await explanations()).map((tree) => formatExplanation(tree, 'text'));
  expect(drawn.join('\n')).toContain('coffee 1');
  expect(drawn.join('\n')).toMatch(/beans \+ 0\.\d+/);
  expect(drawn.join('\n')).toContain('beans –');
  for (const line of drawn.join('\n').split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});
