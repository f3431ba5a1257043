/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** The break between a line and one that has a bracket before its first letter. */
const BEFORE_BRACKET = /(?<=[^\n])\n(?=[^\p{L}\n]*[([{])/u;

/**
 * A text of several lines. One with letters from right to left has an element for each part that begins with a bracket:
 * in a single element, Chromium misplaces that bracket if the line before is from right to left.
 */
export function Lines({ text }: { readonly text: string }) {
  const parts = RIGHT_TO_LEFT.test(text) ? text.split(BEFORE_BRACKET) : [text];
  if (parts.length === 1) return <>{text}</>;
  return (
    <>
      {parts.map((part, index) => (
        <span key={`${index}`} class="text-lines">
          {part}
        </span>
      ))}
    </>
  );
}
