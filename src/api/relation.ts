import * as z from 'zod';
import type { StatedRelation } from '../index.ts';
import { named } from './quote.ts';
import { instant, listOf } from './schemas.ts';

/** A relation, with the memories that state it. */
export const statedRelation = z.object({
  id: z.string(),
  from: z.string(),
  name: z.string(),
  to: z.string(),
  weight: z.number(),
  confidence: z.number(),
  validFrom: instant.exactOptional(),
  validUntil: instant.exactOptional(),
  statements: listOf(z.string()).describe('The ids of the memories that state it'),
} satisfies Record<keyof StatedRelation, z.ZodType>);

/** A relation in one line. */
export function relationLine({ from, name, to, validFrom, validUntil, statements }: StatedRelation): string {
  const when = [validFrom && `from ${validFrom}`, validUntil && `until ${validUntil}`].filter(Boolean);
  const said = `stated by ${statements.map((id) => `[${named(id)}]`).join(', ')}`;
  return `- [${named(from)}] ${named(name)} [${named(to)}] (${[...when, said].join('; ')})`;
}
