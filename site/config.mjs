import { readFileSync } from 'node:fs';
import { SECTIONS } from './sections.mjs';

/** The first heading of a page. */
function titleOf(path) {
  return /^# (.+)$/m.exec(readFileSync(new URL(`./pages/${path}`, import.meta.url), 'utf8'))?.[1] ?? path;
}

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
  description: 'A memory for AI agents: exactly ranked and fully explained.',
  cleanUrls: true,
  rewrites: (path) => path.replace(/(^|\/)README\.md$/, '$1index.md'),
  markdown: { config: plainLinks },
  themeConfig: {
    // In the page itself: nothing typed here leaves the browser.
    search: { provider: 'local' },
    sidebar: SECTIONS.map(([text, paths]) => ({
      text,
      items: paths.map((path) => ({ text: titleOf(path), link: linkOf(path) })),
    })),
    outline: [2, 3],
  },
};
