/** The text of the module of a vocabulary. */
export declare function packVocabulary(name: string): string;
/** Where it stands. */
export declare function fileOf(name: string): URL;
