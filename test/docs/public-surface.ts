import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Returns the declaration files of all subpaths of the package that contain code, the main one first. */
export function entryPoints(): readonly { readonly name: string; readonly file: string }[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return Object.entries(exports)
    .filter(([, path]) => path.endsWith('.js'))
    .map(([subpath, path]) => ({
      name: subpath.replace(/^\./, 'salience'),
      file: join(root, path.replace(/\.js$/, '.d.ts')),
    }));
}

/** What a program can import from one subpath. */
export interface EntryPoint {
  /** The name to import, such as `salience/otel`. */
  readonly name: string;
  readonly source: ts.SourceFile;
  /** Sorted by name; aliases are resolved. */
  readonly exports: readonly { readonly name: string; readonly symbol: ts.Symbol }[];
}

export interface PublicSurface {
  readonly checker: ts.TypeChecker;
  readonly entryPoints: readonly EntryPoint[];
}

/** Reads the built declarations of the package. Declarations of other packages are not resolved. */
export function readPublicSurface(): PublicSurface {
  const entries = entryPoints();
  if (!entries.every(({ file }) => existsSync(file))) {
    throw new Error('the declarations are read from the built package: run ./run setup first, or ./run test');
  }
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noLib: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const file = join(dirname(from), text.replace(/\.[jt]s$/, '.d.ts'));
      return text.startsWith('.') && existsSync(file)
        ? { resolvedModule: { resolvedFileName: file, extension: ts.Extension.Dts } }
        : { resolvedModule: undefined };
    });
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
    host,
  );
  const checker = program.getTypeChecker();
  return {
    checker,
    entryPoints: entries.map(({ name, file }) => {
      const source = program.getSourceFile(file);
      const module = source && checker.getSymbolAtLocation(source);
      if (!source || !module) throw new Error(`${relative(root, file)} exports nothing`);
      const exports = checker
        .getExportsOfModule(module)
        .map((symbol) => ({ name: symbol.name, symbol: resolved(checker, symbol) }))
        .sort((a, b) => byCodeUnits(a.name, b.name));
      return { name, source, exports };
    }),
  };
}

/** Returns the symbol that a name refers to, through imports and re-exports. */
export function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
