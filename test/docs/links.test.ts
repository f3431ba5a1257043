import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked, type Token, type Tokens } from 'marked';
import { describe, expect, test } from 'vitest';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The files that are committed, or would be added by `git add`. */
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const known = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));
const pages = files.filter((file) => file.endsWith('.md'));
const contents = new Map(files.map((file) => [file, readFileSync(join(root, file))]));
// Like git, treats files with a zero byte near the beginning as binary.
const texts = files
  .filter((file) => !bytesOf(file).subarray(0, 8000).includes(0))
  .map((file) => [file, bytesOf(file).toString('utf8')] as const);

function bytesOf(file: string): Buffer {
  return contents.get(file) as Buffer;
}

function foldersOf(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === '.' ? ['.'] : [folder, ...foldersOf(folder)];
}

function tokensOf(page: string): readonly Token[] {
  const tokens: Token[] = [];
  marked.walkTokens(marked.lexer(bytesOf(page).toString('utf8')), (token) => void tokens.push(token));
  return tokens;
}

const anchorsOfPages = new Map<string, ReadonlySet<string>>();

/** Returns the anchors that GitHub gives to the headings of a page, and its `<a id>` anchors. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = anchorsOfPages.get(page) ?? readAnchors(page);
  anchorsOfPages.set(page, anchors);
  return anchors;
}

function readAnchors(page: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = tokensOf(page).filter((token): token is Tokens.Heading => token.type === 'heading');
  const anchors = [
    ...bytesOf(page)
      .toString('utf8')
      .matchAll(/<a id="([\w-]+)"><\/a>/g),
  ].map(([, id]) => id ?? '');
  return new Set([
    ...anchors,
    ...headings.map(({ text }) => {
      const slug = text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-');
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    }),
  ]);
}

/** Returns what is wrong with a link of a page; `undefined` if its target exists. */
function linkProblem(page: string, href: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined;
  const [path = '', anchor] = decodeURIComponent(href).split('#');
  const target = path === '' ? page : relative(root, join(root, dirname(page), path)) || '.';
  if (!known.has(target)) return `${href}: there is no ${target} in the repository`;
  if (anchor === undefined) return undefined;
  if (!target.endsWith('.md')) return `${href}: ${target} has no headings`;
  return anchorsOf(target).has(anchor) ? undefined : `${href}: ${target} has no heading #${anchor}`;
}

/** Finds where `pattern` occurs, as file:line. The text itself stays out of error messages. */
function places(pattern: RegExp): readonly string[] {
  return texts.flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  );
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

describe('links', () => {
  test('the pages are found', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']));
  });

  test.each(pages)('every link of %s leads to a file or heading of the repository', (page) => {
    const hrefs = tokensOf(page).flatMap((token) =>
      token.type === 'link' || token.type === 'image' ? [token['href'] as string] : [],
    );
    expect(hrefs.flatMap((href) => linkProblem(page, href) ?? [])).toEqual([]);
  });

  test.each(pages)('every path that %s names exists', (page) => {
    const named = tokensOf(page)
      .flatMap((token) => (token.type === 'codespan' ? [token['text'] as string] : []))
      .filter((text) => /^(?:\.ci|bench|docs|examples|scripts|src|test|tools)\/[\w./-]+$/.test(text));
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('the architecture has a heading for every folder of the source', () => {
    const folders = new Set(
      files.flatMap((file) => /^src\/([^/]+)\/(?:.*(?<!\.test|\.test-d)\.ts)$/.exec(file)?.[1] ?? []),
    );
    const headings = tokensOf('ARCHITECTURE.md').flatMap((token) =>
      token.type === 'heading' ? (/`src\/([a-z]+)`/.exec(token['text'] as string)?.[1] ?? []) : [],
    );
    expect(headings.sort()).toEqual([...folders].sort());
  });

  test('a broken link is detected', () => {
    expect(linkProblem('docs/guides/profiles.md', '#operators')).toBeUndefined();
    expect(linkProblem('docs/guides/profiles.md', '../../README.md')).toBeUndefined();
    expect(linkProblem('docs/guides/profiles.md', '#no-such-heading')).toContain('no heading');
    expect(linkProblem('docs/guides/profiles.md', 'no-such-page.md')).toContain(
      'no docs/guides/no-such-page.md',
    );
    expect(linkProblem('README.md', '../elsewhere.md')).toContain('there is no');
  });
});

describe('no file names the machine that it was written on', () => {
  test('no folder above the checkout, nor a home', () => {
    // Every machine has these, so examples may name them.
    const common = ['/', '/home', '/mnt', '/opt', '/root', '/srv', '/tmp', '/usr', '/Users', '/var'];
    const folders = [root, dirname(root), homedir()].filter((folder) => !common.includes(folder));
    expect(folders).toContain(root);
    // Requires a name below the folder, because "/src" alone may be part of a regular expression.
    for (const folder of folders) {
      expect(places(new RegExp(`(?<![\\w.~/-])${literal(folder)}/[\\w.-]`))).toEqual([]);
    }
  });

  test('no host of a package registry', () => {
    expect(places(/\b(?:registry|npm)\.[a-z0-9-]+\.(?:com|dev|io|net|org|internal|local)\b/i)).toEqual([]);
    const configured = process.env['npm_config_registry'];
    const host = configured && URL.canParse(configured) ? new URL(configured).hostname : '';
    if (host.includes('.') && !/^[\d.]+$/.test(host))
      expect(places(new RegExp(literal(host), 'i'))).toEqual([]);
  });

  test('no command that fetches a package named salience, which is not ours yet', () => {
    expect(
      places(
        /\b(?:npx|bunx|pnpm dlx) (?:-y |--yes )?["']?salience\b|npm (?:install|i) (?:-\S+ )*salience(?![\w./-])/,
      ),
    ).toEqual([]);
  });

  test('no lock file says where its packages were fetched from', () => {
    const locks = texts.filter(([file]) => basename(file) === 'package-lock.json');
    expect(locks.length).toBeGreaterThan(0);
    for (const [file, text] of locks) expect(text, file).not.toMatch(/"resolved":\s*"[a-z+]*:\/\//);
  });
});
