// What the side of every page and llms.txt list, in this order.
export const SECTIONS = [
  ['Start', ['README.md', 'docs/overview.md', 'docs/compared.md', 'docs/guides/migrating.md']],
  [
    'Tutorials',
    ['README', 'chat-agent', 'coding-agent', 'support-desk', 'langchain', 'server'].map(
      (name) => `docs/tutorials/${name}.md`,
    ),
  ],
  [
    'Use it',
    [
      'cli',
      'mcp',
      'integrations',
      'server',
      'many-users',
      'postgres',
      'stores',
      'importing',
      'inspector',
      'looking',
    ].map((name) => `docs/guides/${name}.md`),
  ],
  [
    'Understand it',
    ['profiles', 'embedders', 'language-models', 'belief', 'living-memory', 'graph', 'evaluation'].map(
      (name) => `docs/guides/${name}.md`,
    ),
  ],
  ['Measured', ['docs/measured.md', 'docs/benchmarks.md', 'docs/performance.md']],
  [
    'Look up',
    [
      'docs/reference/README.md',
      'docs/versions.md',
      'CHANGELOG.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
    ],
  ],
];
