import { expect, test } from 'vitest';
import type { GraphPath, Neighbourhood, StatedRelation } from '../index.ts';
import { formatNeighbourhood, formatPath, neighbourhoodAsDot, neighbourhoodAsMermaid } from './graph-text.ts';

const relation = (from: string, name: string, to: string, more: object = {}): StatedRelation => ({
  id: `relation:${from}/${name}/${to}`,
  from,
  name,
  to,
  weight: 1,
  confidence: 0.8,
  statements: ['m'],
  ...more,
});

const around = {
  entity: { id: 'ada', title: 'Ada' },
  neighbours: [
    { id: 'acme', name: 'Acme "Inc"', type: 'entity', depth: 1 },
    { id: 'bob', name: 'Bob', type: 'entity', depth: 1 },
    { id: 'said', type: 'fact', depth: 2 },
  ],
  relations: [
    relation('acme', 'owns', 'said'),
    relation('ada', 'works_at', 'acme', { validFrom: '2026-01-01T00:00:00.000Z' }),
    relation('bob', 'knows', 'acme'),
    relation('bob', 'knows', 'ada'),
  ],
} as unknown as Neighbourhood;

test('draws a neighbourhood as a tree, each relation once and in its direction', () => {
  expect(formatNeighbourhood(around)).toBe(
    [
      'Ada',
      '├─ works_at → Acme "Inc" (from 2026-01-01)',
      '│ ├─ owns → said',
      '│ └← knows ─ Bob',
      '└← knows ─ Bob',
    ].join('\n'),
  );
  expect(formatNeighbourhood({ ...around, neighbours: [], relations: [] })).toBe('Ada');
});

test('files for Graphviz and Mermaid quote what they must', () => {
  const dot = neighbourhoodAsDot(around);
  expect(dot).toContain('  "acme" [label="Acme \\"Inc\\""];');
  expect(dot).toContain('  "ada" -> "acme" [label="works_at"];');
  const mermaid = neighbourhoodAsMermaid(around);
  expect(mermaid).toContain('  n1["Acme #34;Inc#34;"]');
  expect(mermaid).toContain('  n0 -->|"works_at"| n1');
});

test('draws a path on one line, each relation in its direction', () => {
  const path = {
    ids: ['ada', 'acme', 'bob'],
    relations: [relation('ada', 'works_at', 'acme'), relation('bob', 'owns', 'acme')],
  } as unknown as GraphPath;
  const name = (id: string) => (id === 'acme' ? 'Ac\nme' : id);
  expect(formatPath(path, name)).toBe('ada ─ works_at → Ac me ← owns ─ bob');
});
