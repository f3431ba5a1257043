// Writes docs/reference/*.md from the doc comments of the built package, a page for each subpath
// (docs/decisions/0049-reference-from-doc-comments.md). With --check it writes nothing, and fails if the existing pages
// are not up to date.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { load as markdown } from 'typedoc-plugin-markdown';

const root = fileURLToPath(new URL('../', import.meta.url));
const committed = join(root, 'docs', 'reference');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const entryPoints = Object.entries(exports)
  .filter(([, path]) => path.endsWith('.js'))
  .map(([subpath, path]) => ({
    name: subpath.replace(/^\./, 'salience'),
    page: subpath === '.' ? 'salience.md' : `${basename(subpath)}.md`,
    file: join(root, path.replace(/\.js$/, '.d.ts')),
  }));

/** Generates the pages, by name. */
async function generate() {
  const folder = mkdtempSync(join(tmpdir(), 'salience-reference-'));
  // The compiler only reads what the entry points refer to. The types of Mastra are stubbed: they take as long to read
  // as all others together, and the pages only need their names.
  const tsconfig = join(root, 'build', 'tsconfig.reference.json');
  const files = entryPoints.map(({ file }) => file);
  const nothing = join(folder, 'nothing.d.ts');
  const compilerOptions = {
    noEmit: true,
    types: ['node'],
    typeRoots: ['../node_modules/@types'],
    paths: { '@mastra/*': [nothing] },
  };
  writeFileSync(nothing, 'export {};\n');
  writeFileSync(
    tsconfig,
    JSON.stringify({ extends: '../tsconfig.json', compilerOptions, files, include: [] }),
  );
  try {
    const app = await Application.bootstrapWithPlugins({
      entryPoints: files,
      tsconfig,
      plugin: [markdown],
      out: join(folder, 'pages'),
      logLevel: 'Error',
      readme: 'none',
      router: 'module',
      sort: ['source-order'],
      groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables'],
      // `tsc` has checked the sources; line numbers and commits would change with every commit.
      skipErrorChecking: true,
      disableSources: true,
      disableGit: true,
      excludeExternals: true,
      excludeInternal: true,
      excludePrivate: true,
      hideGenerator: true,
      hidePageHeader: true,
      hideBreadcrumbs: true,
      flattenOutputFiles: true,
      useCodeBlocks: true,
      expandParameters: true,
      indexFormat: 'htmlTable',
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      typeAliasPropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
      pageTitleTemplates: { module: ({ name }) => titleOf(name) },
      tableColumnSettings: {
        hideInherited: true,
        hideOverrides: true,
        hideSources: true,
        hideModifiers: true,
      },
    });
    const project = await app.convert();
    const modules = entryPoints.map(({ file, page }) => {
      const path = file.slice(join(root, 'dist/').length).replace(/(\/index)?\.d\.ts$/, '');
      const module = project?.children?.find(({ name }) => name === path);
      if (!module) throw new Error(`${path} has no page: is it documented with @module?`);
      module.name = basename(page, '.md');
      return module;
    });
    await app.generateOutputs(project);
    const read = (page) => readFileSync(join(folder, 'pages', page), 'utf8').replace(/[ \t]+$/gm, '');
    const pages = new Map(entryPoints.map(({ page }) => [page, read(page)]));
    return pages.set('README.md', contents(modules));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(tsconfig, { force: true });
  }
}

const titleOf = (name) => (name === 'salience' ? name : `salience/${name}`);

/** The page that lists the others. */
function contents(modules) {
  const rows = modules.map(({ name, comment }) => {
    const summary = (comment?.summary ?? []).map(({ text }) => text).join('');
    return `| [\`${titleOf(name)}\`](${name}.md) | ${summary.replace(/\s+/g, ' ').trim()} |`;
  });
  return `# Reference

Everything that the package exports, made from its doc comments by \`./run reference\`. [api.txt](api.txt) lists the same
as declarations, without comments.

| import from | what it is |
| --- | --- |
${rows.join('\n')}
`;
}

const pages = await generate();
const kept = existsSync(committed) ? readdirSync(committed).filter((name) => name.endsWith('.md')) : [];
const stale = [...new Set([...pages.keys(), ...kept])].filter(
  (page) => !kept.includes(page) || pages.get(page) !== readFileSync(join(committed, page), 'utf8'),
);
if (!process.argv.includes('--check')) {
  mkdirSync(committed, { recursive: true });
  for (const page of kept) rmSync(join(committed, page));
  for (const [page, text] of pages) writeFileSync(join(committed, page), text);
} else if (stale.length > 0) {
  console.error(stale.map((page) => `docs/reference/${page} is not what the doc comments say`).join('\n'));
  console.error('rewrite the reference with ./run reference, and commit it');
  process.exitCode = 1;
}
