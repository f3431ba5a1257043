/** Importers: files of several kinds as statements and memories, and the writing of them. */

export { whyNotUtf8 } from '../files/bytes.ts';
export { type ExportEnd, exportEnd, withoutEnds } from './export-end.ts';
export { type ImportCounts, importItems, keeping, withLinks, wrote } from './import.ts';
export type { ImportItem, ImportSource } from './item.ts';
export { readJsonLine } from './json-lines.ts';
export { createImportLinks } from './links.ts';
export { IMPORT_FORMATS, type ImportFormat, openSource, openSourcesByUser } from './source.ts';
