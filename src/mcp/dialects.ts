/** The sets of tools under which a memory can be offered: the engine's own, and those of other systems. */
export const DIALECTS = ['salience', 'mem', 'scoped'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** How many tools are offered. */
export const TOOL_CHOICES = ['few', 'all'] as const;
export type ToolChoice = (typeof TOOL_CHOICES)[number];
