export interface Block {
  /** As it stands between the fences. */
  readonly text: string;
  readonly steps: readonly { readonly command: string; readonly output: string }[];
}

/** `console` fences: lines with `$ ` are commands, with `> ` their continuation, all others what they print. */
export function blocksOf(guide: string): readonly Block[] {
  return [...guide.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => {
    const steps = text
      .split(/^(?=\$ )/m)
      .filter((step) => step.startsWith('$ '))
      .map((step) => {
        const lines = step.split('\n');
        const last = lines.findIndex((line, index) => index > 0 && !line.startsWith('> '));
        const command = lines.slice(0, last).map((line) => line.slice(2));
        return { command: command.join('\n'), output: lines.slice(last).join('\n').trimEnd() };
      });
    return { text, steps };
  });
}

/** What differs from run to run. */
export function normalise(output: string): string {
  return (
    output
      .replace(/\d+(?:\.\d+)? ms/g, '0 ms')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d\.\d{3})?Z/g, 'TIME')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'UUID')
      .replace(/git:[0-9a-f]{40}/g, 'git:HASH')
      .replace(/^(node|sqlite|salience)( +)\S+$/gm, '$1$2VERSION')
      .replace(/\d+\.\d KiB/g, 'SIZE')
      // When doctor says that a space was backed up.
      .replace(/^(\w+ .* good +)\d{4}-\d\d-\d\d$/gm, '$1DAY')
      .replace(
        /^((?:analyze|eligible|validity_filter|bm25_search|vector_search|score|rerank|expand|bridge|merge|hydrate|other|effects) .*?)[\d.]+$/gm,
        '$1',
      )
      .split('\n')
      .map((line) => line.trimEnd().replace(/ +/g, ' '))
      .join('\n')
      .trimEnd()
  );
}
