import { readFileSync } from 'node:fs';
import { SECTIONS } from './sections.mjs';

const textOf = (path) => readFileSync(new URL(`./pages/${path}`, import.meta.url), 'utf8');

/** The first heading of a page. */
function titleOf(path) {
  return /^# (.+)$/m.exec(textOf(path))?.[1] ?? path;
}

/** Tables of many words are read from the top of a row, and a page without an outline has the whole width. */
const style = `
  .vp-doc td { vertical-align: top }
  .vp-doc th, .vp-doc td { padding: 6px 10px }
  .VPDoc:not(.has-aside) .content-container.content-container { max-width: none }
  .VPDoc:not(.has-aside) .container.container { max-width: 1200px }`;

const linkOf = (path) => `/${path.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '')}`;

/** Links to code and folders lead nowhere on the site: they become plain text. Links to pages are checked by VitePress. */
function plainLinks(markdown) {
  markdown.core.ruler.push('plain-links', (state) => {
    for (const { children } of state.tokens) {
      let hidden = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const target = token.attrGet('href') ?? '';
          hidden = !/^(?:[a-z]+:|#|mailto:)/i.test(target) && !/\.md(?:#.*)?$/.test(target);
        }
        if (!hidden || !token.type.startsWith('link_')) continue;
        if (token.type === 'link_close') hidden = false;
        token.type = 'text';
        token.tag = '';
        token.nesting = 0;
        token.content = '';
      }
    }
  });
}

export default {
  title: 'Salience',
  description: 'A memory engine for AI agents, with exact ranking and a full explanation of every score.',
  cleanUrls: true,
  rewrites: (path) => path.replace(/(^|\/)README\.md$/, '$1index.md'),
  markdown: { config: plainLinks },
  head: [
    ['style', {}, style],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  transformPageData({ filePath }) {
    return /^## /m.test(textOf(filePath)) ? undefined : { frontmatter: { aside: false } };
  },
  themeConfig: {
    // In the page itself: nothing typed here leaves the browser.
    search: { provider: 'local' },
    sidebar: SECTIONS.map(([text, paths]) => ({
      text,
      items: paths.map((path) => ({
        text: path === 'README.md' ? 'Introduction' : titleOf(path),
        link: linkOf(path),
      })),
    })),
    outline: [2, 3],
  },
};
