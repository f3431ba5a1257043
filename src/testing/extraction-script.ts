/** Returns a memory as a model extracts it, with defaults for the fields that the test does not give. */
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
