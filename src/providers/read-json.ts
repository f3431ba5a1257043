/**
 * Finds the JSON object in a model's answer: the whole answer, else its last code block, else everything from its first
 * brace to its last. A leading `<think>` block is skipped. Throws an error that tells the model what is wrong.
 */
export function readJsonObject(answer: string): unknown {
  const said = answer.replace(/^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i, '').trim();
  if (said === '') throw new Error('the answer is empty');
  const block = [...said.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/gi)].at(-1)?.[1];
  const braces = said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1);
  for (const candidate of [said, block, braces]) {
    const value = parsed(candidate);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  }
  try {
    JSON.parse(said);
  } catch (error) {
    throw new Error(`the answer is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  throw new Error('the answer is JSON, but not one object');
}

function parsed(text: string | undefined): unknown {
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
