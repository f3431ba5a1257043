export interface Block {
  /** The text of the page: the fence of the commands and the fence of their output. */
  readonly text: string;
  readonly commands: string;
  readonly output: string;
}

/** Returns the `bash` fences of a guide. Their output, if any, is in a `console` fence directly after each. */
export function blocksOf(guide: string): readonly Block[] {
  const fences = /^```bash\n([\s\S]*?)^```$(?:\n\n```console\n([\s\S]*?)^```$)?/gm;
  return [...guide.matchAll(fences)].map(([text, commands = '', output = '']) => {
    return { text, commands, output: output.trimEnd() };
  });
}

/** Formats commands and their output as fences. */
export function fencesOf(commands: string, output: string): string {
  const printed = output.trim() === '' ? '' : `\n\n\`\`\`console\n${output.trimEnd()}\n\`\`\``;
  return `\`\`\`bash\n${commands}\`\`\`${printed}`;
}

/** The commands of a script: a here-document or a continued line belongs to the command before it. */
export function commandsOf(script: string): readonly string[] {
  const commands: string[] = [];
  let end: string | undefined;
  let continues = false;
  for (const line of script.split('\n')) {
    const begins = end === undefined && !continues;
    if (begins && line === '') continue;
    if (begins) commands.push(line);
    else commands[commands.length - 1] += `\n${line}`;
    if (end === undefined) {
      end = /<<'(\w+)'/.exec(line)?.[1];
      continues = line.endsWith('\\');
    } else if (line === end) end = undefined;
  }
  return commands;
}

/** Replaces what differs from run to run, such as times and ids. */
export function normalise(output: string): string {
  return (
    output
      .replace(/\d+(?:\.\d+)? ms/g, '0 ms')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d\.\d{3})?Z/g, 'TIME')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'UUID')
      .replace(/git:[0-9a-f]{40}/g, 'git:HASH')
      .replace(/^(node|sqlite|salience)( +)\S+$/gm, '$1$2VERSION')
      .replace(/\d+\.\d KiB/g, 'SIZE')
      // The day of the last backup in the output of doctor.
      .replace(/^(good .* )\d{4}-\d\d-\d\d$/gm, '$1DAY')
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
