/** The token usage of each answer of a mock model of the AI SDK: 7 in, 3 out. */
export const usage = {
  inputTokens: { total: 7, noCache: 7, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};

/** Returns an answer that is a text and ends the generation. */
export function says(text: string) {
  return {
    content: [{ type: 'text' as const, text }],
    finishReason: { unified: 'stop' as const, raw: 'stop' },
    usage,
    warnings: [],
  };
}

/** Returns an answer that calls a tool. */
export function calls(toolName: string, input: object) {
  return {
    content: [
      {
        type: 'tool-call' as const,
        toolCallId: `call-${toolName}`,
        toolName,
        input: JSON.stringify(input),
      },
    ],
    finishReason: { unified: 'tool-calls' as const, raw: 'tool_calls' },
    usage,
    warnings: [],
  };
}
