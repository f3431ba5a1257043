export declare const PREFERRED: { readonly path: string; readonly package: string };
export declare function browserOfTests(): string;
