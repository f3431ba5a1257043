import { escapeXml } from '../../../src/domain/escape-xml.ts';
import type { Explanation, Hit, Memory } from '../../../src/index.ts';
import { formatExplanation } from '../../../src/scoring/format.ts';
import { saveFile } from '../../parts/save.ts';

/** Saves the explanation of a hit as one file for a bug report, optionally with the texts redacted. */
export function Report({
  hit: { memory },
  explanation,
  rank,
  query,
}: {
  readonly hit: Hit;
  readonly explanation: Explanation;
  readonly rank: number;
  readonly query: string | undefined;
}) {
  const save = (withTexts: boolean) =>
    saveFile('explanation.html', 'text/html', reportOf(memory, explanation, rank, query, withTexts));
  return (
    <div class="row">
      <button type="button" class="small" onClick={() => save(true)}>
        Save as HTML
      </button>
      <button type="button" class="small" onClick={() => save(false)}>
        Save without texts
      </button>
    </div>
  );
}

const BLACK = '████';

/** Removes all text of the query and the memories from the tree: the counted words, and the attributes of tables. */
function blackened({ detail, inputs, ...node }: Explanation): Explanation {
  const { words, text, ...rest } = detail;
  return {
    ...node,
    inputs: inputs.map(blackened),
    detail: { ...rest, ...(typeof rest.key === 'string' || text !== undefined ? { text: BLACK } : {}) },
  };
}

function reportOf(
  memory: Memory,
  explanation: Explanation,
  rank: number,
  query: string | undefined,
  withTexts: boolean,
) {
  const shown = formatExplanation(withTexts ? explanation : blackened(explanation), 'text');
  const text = (value: string) => (withTexts ? escapeXml(value) : value.replaceAll(/\S/g, '█'));
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Why a memory was recalled</title>
<style>body{font:14px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}pre{overflow:auto}</style>
<h1>Why a memory was recalled</h1>
<p>Question: ${text(query ?? '')}</p>
<p>Place ${rank}: ${text(memory.content)}</p>
<p>${escapeXml(memory.type)} · ${memory.createdAt} · ${withTexts ? escapeXml(memory.id) : BLACK}</p>
<pre>${escapeXml(shown)}</pre>
</html>
`;
}
