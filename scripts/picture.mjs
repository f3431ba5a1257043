// Draws docs/explained.svg from the output of examples/explained.mjs, so that the picture in the README is real output.
// `--check` writes nothing and fails if the picture does not match the output.
import { readFileSync, writeFileSync } from 'node:fs';

const expected = new URL('../examples/expected/explained.txt', import.meta.url);
const picture = new URL('../docs/explained.svg', import.meta.url);

const QUESTION = '? which coffee does she prefer?';
/** Of a line, in pixels; characters of a monospaced font are 0.6 as wide as high. */
const [SIZE, HEIGHT, WIDTH, MARGIN] = [13, 19, 7.8, 18];

const lines = [QUESTION, '', ...readFileSync(expected, 'utf8').trimEnd().split('\n')];
const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * WIDTH + 2 * MARGIN);
const height = lines.length * HEIGHT + 2 * MARGIN;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${SIZE}">
<title>A question, the memory that answers it, and what made its score</title>
<rect width="${width}" height="${height}" rx="8" fill="#0f172a"/>
${lines.map(row).join('\n')}
</svg>
`;

if (process.argv.includes('--check')) {
  if (readFileSync(picture, 'utf8') !== svg) {
    console.error('docs/explained.svg shows something else: node scripts/picture.mjs');
    process.exitCode = 1;
  }
} else writeFileSync(picture, svg);

/** Draws a line: branches are grey, numbers blue, the query yellow, the hits white, the proof green. */
function row(line, at) {
  const y = MARGIN + at * HEIGHT + SIZE;
  const parts =
    at === 0
      ? [['#fde68a', line]]
      : at === 2
        ? [['#ffffff', line]]
        : line.startsWith('exact')
          ? [['#86efac', line]]
          : [...line.matchAll(/([│├└─ ]+)|(-?\d+\.\d+)|((?:(?!-?\d+\.\d+)[^│├└─ ])+)/g)].map(
              ([text, branch, number]) => [branch ? '#475569' : number ? '#7dd3fc' : '#cbd5e1', text],
            );
  const spans = parts.map(([colour, text]) => `<tspan fill="${colour}">${escaped(text)}</tspan>`).join('');
  return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spans}</text>`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
