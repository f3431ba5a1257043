export interface KernelMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  grow(pages: number): number;
}

interface Limits {
  readonly initial: number;
  readonly maximum?: number;
  readonly shared?: boolean;
}

/** The part that is used; the types of Node.js do not have it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (limits: Limits) => KernelMemory;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

export const PAGE_BYTES = 65_536;
/** 2^32 bytes, the largest WebAssembly memory. */
export const MOST_PAGES = 65_536;

/** By base64. A module that failed to compile is not tried again. */
const modules = new Map<string, object | undefined>();

function moduleOf(base64: string): object | undefined {
  if (!modules.has(base64)) {
    let compiled: object | undefined;
    try {
      compiled = new WebAssembly.Module(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    } catch {
      compiled = undefined;
    }
    modules.set(base64, compiled);
  }
  return modules.get(base64);
}

/**
 * Instantiates a module with a memory of its own, which other threads can write if `isShared`. Returns `undefined` if
 * the runtime has no WebAssembly, no SIMD, or no such memory, as under a limit of address space.
 */
export function instantiate<Exports>(
  base64: string,
  bytes: number,
  isShared = false,
): { readonly memory: KernelMemory; readonly exports: Exports } | undefined {
  const module = moduleOf(base64);
  if (module === undefined) return undefined;
  try {
    const initial = Math.ceil(bytes / PAGE_BYTES);
    const memory = new WebAssembly.Memory({
      initial,
      ...(isShared && { maximum: MOST_PAGES, shared: true }),
    });
    const { exports } = new WebAssembly.Instance(module, { kernel: { memory } });
    return { memory, exports: exports as Exports };
  } catch {
    return undefined;
  }
}
