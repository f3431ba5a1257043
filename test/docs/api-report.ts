import ts from 'typescript';
import { byCodeUnits, type PublicSurface, resolved } from './public-surface.ts';

/**
 * Returns the public surface as text: a section for each subpath with its exported declarations, sorted by name. The last
 * section has the declarations that these refer to without exporting them, because changing those changes the surface too.
 */
export function apiReport(surface: PublicSurface): string {
  const firstExported = new Map<ts.Symbol, string>();
  const sections: string[] = [];
  for (const { name: entryPoint, exports } of surface.entryPoints) {
    const lines = exports.map(({ name, symbol }) => {
      const first = firstExported.get(symbol);
      if (first !== undefined) return `export { ${name} } from '${first}';`;
      firstExported.set(symbol, entryPoint);
      return textOf(symbol, 'export ');
    });
    sections.push(section(entryPoint, lines));
  }
  const hidden = [...reachableFrom(surface, [...firstExported.keys()])]
    .filter((symbol) => !firstExported.has(symbol))
    .map((symbol) => textOf(symbol, ''))
    .sort(byCodeUnits);
  // Constants of one declaration have the same text.
  return [...sections, section('named by the above, and not exported', [...new Set(hidden)])].join('\n');
}

function section(title: string, lines: readonly string[]): string {
  return `${[`── ${title} ──`, ...lines].join('\n\n')}\n`;
}

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

function textOf(symbol: ts.Symbol, prefix: string): string {
  const texts = (symbol.declarations ?? []).map((declaration) => {
    const statement = statementOf(declaration);
    const text = printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
    return prefix + text.replace(/^export /, '').replace(/^declare /, '');
  });
  return texts.join('\n');
}

function statementOf(declaration: ts.Declaration): ts.Node {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

/** Returns the symbols of this package that the declarations of `symbols` refer to, directly or through others. */
function reachableFrom({ checker }: PublicSurface, symbols: readonly ts.Symbol[]): ReadonlySet<ts.Symbol> {
  const seen = new Set<ts.Symbol>(symbols);
  const visit = (node: ts.Node): void => {
    const named = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    const symbol = named && resolved(checker, named);
    if (symbol && !seen.has(symbol) && isOfModule(symbol)) {
      seen.add(symbol);
      symbol.declarations?.forEach(visit);
    }
    ts.forEachChild(node, visit);
  };
  for (const declaration of symbols.flatMap(({ declarations = [] }) => declarations)) {
    visit(statementOf(declaration));
  }
  return seen;
}

/** Whether the symbol is declared by a top-level statement of a file, not within another declaration. */
function isOfModule({ declarations }: ts.Symbol): boolean {
  return (
    declarations?.some((each) => {
      const statement = statementOf(each);
      return ts.isStatement(statement) && ts.isSourceFile(statement.parent);
    }) ?? false
  );
}
