/** A table in Markdown, with a note below it. */
export function table(titles, rows, note) {
  const lines = [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}\n\n${note}`;
}
