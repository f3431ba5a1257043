/** The command with which a client starts a server over stdio. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

interface ClientConfig {
  /** The command to run, or the text to write into the client's file. */
  readonly text: (server: ServerCommand) => string;
  /** Where the text goes. */
  readonly hint: string;
}

/**
 * The configuration of each client, from its documentation: code.claude.com/docs (mcp), modelcontextprotocol.io
 * (connect local servers), docs.cursor.com (mcp), code.visualstudio.com/docs (MCP servers), developers.openai.com
 * (Codex, mcp), docs.windsurf.com (cascade, mcp), github.com/google-gemini/gemini-cli (docs/tools/mcp-server.md).
 */
export const CLIENT_CONFIGS = {
  'claude-code': {
    text: (server) => `claude mcp add --scope user salience -- ${shellLine(server)}`,
    hint: 'run this line; --scope project shares it with a repository',
  },
  'claude-desktop': {
    text: (server) => json({ mcpServers: { salience: server } }),
    hint: 'Settings → Developer → Edit Config opens claude_desktop_config.json; merge this into it',
  },
  cursor: {
    text: (server) => json({ mcpServers: { salience: server } }),
    hint: 'merge this into ~/.cursor/mcp.json, or into .cursor/mcp.json of a project',
  },
  vscode: {
    text: (server) =>
      `code --add-mcp ${shellWord(JSON.stringify({ name: 'salience', type: 'stdio', ...server }))}`,
    hint: 'run this line',
  },
  windsurf: {
    text: (server) => json({ mcpServers: { salience: server } }),
    hint: 'merge this into ~/.codeium/windsurf/mcp_config.json',
  },
  gemini: {
    text: (server) => json({ mcpServers: { salience: server } }),
    hint: 'merge this into ~/.gemini/settings.json, or into .gemini/settings.json of a project',
  },
  codex: {
    text: (server) => `codex mcp add salience -- ${shellLine(server)}`,
    hint: 'run this line',
  },
} as const satisfies Readonly<Record<string, ClientConfig>>;

export type ClientName = keyof typeof CLIENT_CONFIGS;
export const CLIENTS = Object.keys(CLIENT_CONFIGS) as readonly ClientName[];

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function shellLine({ command, args }: ServerCommand): string {
  return [command, ...args].map(shellWord).join(' ');
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
