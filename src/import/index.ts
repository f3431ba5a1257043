/** Importers: files of several kinds as statements and memories, and the writing of them. */

export { type ImportCounts, importItems } from './import.ts';
export { IMPORT_FORMATS, type ImportFormat, openSource } from './source.ts';
