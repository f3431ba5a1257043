// Writes llms.txt (https://llmstxt.org) and, beside each page, the Markdown that it was made from.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SECTIONS } from './sections.mjs';

const pages = fileURLToPath(new URL('./pages/', import.meta.url));
const built = `${pages}.vitepress/dist/`;

const textOf = (path) => readFileSync(`${pages}${path}`, 'utf8');
/** The first sentence below the title. */
const summaryOf = (text) =>
  text
    .split(/\n\n+/)
    .find((part) => /^[A-Z`[*]/.test(part) && !part.startsWith('```'))
    ?.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*\s]+/g, ' ')
    .replace(/(?<=\w\.) .*$/, '')
    .replace(/:$/, '.') ?? '';

const lines = SECTIONS.flatMap(([section, paths]) => [
  '',
  `## ${section}`,
  '',
  ...paths.map((path) => {
    cpSync(`${pages}${path}`, `${built}${path}`);
    const text = textOf(path);
    return `- [${/^# (.+)$/m.exec(text)?.[1]}](/${path}): ${summaryOf(text)}`;
  }),
]);
writeFileSync(`${built}llms.txt`, `# Salience\n\n> ${summaryOf(textOf('README.md'))}\n${lines.join('\n')}\n`);
