/** The text of src/search/kernel/module.ts. */
export declare function compileKernel(): Promise<string>;
