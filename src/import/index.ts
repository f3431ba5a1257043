/** Importers: files of several kinds as statements and memories, and the writing of them. */

export { type ImportCounts, type ImportOptions, importItems } from './import.ts';
export type { ImportItem, ImportSource, SourceOptions } from './item.ts';
export { IMPORT_FORMATS, type ImportFormat, openSource } from './source.ts';
