import type { CompletionRequest } from './completion.ts';
import type { JsonSchema } from './language-model.ts';

/** What a server supports of the chat API. */
export interface Dialect {
  readonly format: 'json_schema' | 'json_object' | 'text';
  /** OpenAI's reasoning models accept only `max_completion_tokens`, many other servers only `max_tokens`. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** Whether to send a temperature. Reasoning models accept only their own. */
  readonly temperature: boolean;
}

export function firstDialect({ hostname }: URL): Dialect {
  return {
    format: 'json_schema',
    limit: hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens',
    temperature: true,
  };
}

/** Returns the dialect to try after a refusal with this message; `undefined` if there is none left. */
export function adapted(dialect: Dialect, refusal: string): Dialect | undefined {
  if (dialect.limit === 'max_tokens' && /max_completion_tokens/.test(refusal)) {
    return { ...dialect, limit: 'max_completion_tokens' };
  }
  if (dialect.temperature && /\btemperature\b/.test(refusal)) return { ...dialect, temperature: false };
  switch (dialect.format) {
    case 'json_schema':
      return { ...dialect, format: 'json_object' };
    case 'json_object':
      return { ...dialect, format: 'text' };
    case 'text':
      return undefined;
  }
}

export function requestBody(model: string, request: CompletionRequest, dialect: Dialect): unknown {
  const { messages, jsonSchema, temperature, maxOutputTokens } = request;
  return {
    model,
    messages,
    stream: false,
    ...(dialect.temperature ? { temperature } : {}),
    ...(maxOutputTokens === undefined ? {} : { [dialect.limit]: maxOutputTokens }),
    ...(dialect.format === 'text' ? {} : { response_format: formatOf(dialect.format, jsonSchema) }),
  };
}

function formatOf(format: 'json_schema' | 'json_object', schema: JsonSchema): unknown {
  if (format === 'json_object') return { type: format };
  return { type: format, json_schema: { name: 'answer', schema, strict: isClosed(schema) } };
}

/**
 * Whether every object of the schema requires all its properties and allows no others, as OpenAI's `strict` demands.
 */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as JsonSchema;
  if (type === 'object') {
    const names = Object.keys(properties ?? {});
    if (additionalProperties !== false || !names.every((name) => (required as string[])?.includes(name))) {
      return false;
    }
  }
  return Object.values(schema).every(isClosed);
}
