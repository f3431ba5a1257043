/** The names under which a memory can be offered: the engine's own, and those of other systems. */
export const DIALECTS = ['salience', 'mem', 'scoped'] as const;
export type DialectName = (typeof DIALECTS)[number];
