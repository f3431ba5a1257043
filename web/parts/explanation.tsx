import type { Explanation } from '../../src/index.ts';
import { type Outline, outlineExplanation } from '../../src/scoring/format.ts';

/** Explains a score: every value of the formula, in words, as a collapsible tree. */
export function ExplanationTree({ explanation }: { readonly explanation: Explanation }) {
  return (
    <div class="tree">
      <Node outline={outlineExplanation(explanation)} depth={0} />
    </div>
  );
}

function Node({ outline, depth }: { readonly outline: Outline; readonly depth: number }) {
  const { branches, note } = outline;
  if (branches.length === 0 && note === undefined) {
    return (
      <div class="leaf">
        <Line outline={outline} />
      </div>
    );
  }
  return (
    <details open={depth < 3}>
      <summary>
        <Line outline={outline} />
      </summary>
      <ul>
        {note !== undefined && <li class="quiet note">{note}</li>}
        {branches.map((branch, index) => (
          <li key={`${index} ${branch.words}`}>
            <Node outline={branch} depth={depth + 1} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Line({ outline: { value, words, role, share } }: { readonly outline: Outline }) {
  return (
    <>
      <span class="number">{value.toFixed(4)}</span>
      <span>
        {words}
        {role && (
          <span class="quiet">
            {' '}
            · {role}
            {share && ` (${share})`}
          </span>
        )}
      </span>
    </>
  );
}
