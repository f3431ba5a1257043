/** A memory as a model extracts it; the test says what matters to it. */
export function extracted(content: string, fields: Readonly<Record<string, unknown>> = {}): object {
  return {
    content,
    title: null,
    type: 'fact',
    tags: [],
    importance: 0.5,
    confidence: 'stated',
    validFrom: null,
    validUntil: null,
    sources: [1],
    ...fields,
  };
}
