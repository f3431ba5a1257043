export interface Block {
  /** Its fences, that of the commands and that of what they print. */
  readonly text: string;
  readonly commands: string;
  readonly output: string;
}

/** `bash` fences, which a reader pastes as they are; what they print, if anything, is in a `console` fence after each. */
export function blocksOf(guide: string): readonly Block[] {
  const fences = /^```bash\n([\s\S]*?)^```$(?:\n\n```console\n([\s\S]*?)^```$)?/gm;
  return [...guide.matchAll(fences)].map(([text, commands = '', output = '']) => {
    return { text, commands, output: output.trimEnd() };
  });
}

/** The fences of commands and what they print. */
export function fencesOf(commands: string, output: string): string {
  const printed = output.trim() === '' ? '' : `\n\n\`\`\`console\n${output.trimEnd()}\n\`\`\``;
  return `\`\`\`bash\n${commands}\`\`\`${printed}`;
}

/** Puts a line before each command of a script: not in a here-document, nor in a command that goes on. */
export function between(commands: string, line: string): string {
  let end: string | undefined;
  let continues = false;
  return commands
    .split('\n')
    .map((each) => {
      if (end !== undefined) {
        if (each === end) end = undefined;
        return each;
      }
      end = /<<'(\w+)'/.exec(each)?.[1];
      const begins = !continues && each !== '';
      continues = each.endsWith('\\');
      return begins ? `${line}\n${each}` : each;
    })
    .join('\n');
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
