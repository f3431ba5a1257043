import ts from 'typescript';
import type { PublicSurface } from './public-surface.ts';

/** An `@example` of a doc comment. */
export interface DocExample {
  /** The documented name, such as `salience: MemoryEngine.recall`. A second example of the same name ends in ` 2`. */
  readonly title: string;
  readonly code: string;
}

/** Returns the examples of everything that a program can import, and of the subpaths themselves. */
export function docExamples({ entryPoints }: PublicSurface): readonly DocExample[] {
  const examples = new Map<ts.Node, readonly [string, readonly string[]]>();
  for (const { name: entryPoint, source, exports } of entryPoints) {
    examples.set(source, [entryPoint, examplesOfModule(source)]);
    for (const { name, symbol } of exports) {
      for (const [node, title] of documented(symbol, name)) {
        // An export of several subpaths belongs to the first one.
        if (!examples.has(node)) examples.set(node, [`${entryPoint}: ${title}`, examplesOf(node)]);
      }
    }
  }
  return [...examples.values()].flatMap(([title, codes]) =>
    codes.map((code, index) => ({ title: index === 0 ? title : `${title} ${index + 1}`, code })),
  );
}

/** The interfaces whose methods programs call. The other interfaces are ports, which programs implement. */
const CALLED = ['MemoryEngine', 'Spaces', 'MemFunctions', 'TokenStore'];

/** Returns the titles of all that must have an example: exported functions and classes, and methods of `CALLED`. */
export function verbsOf({ entryPoints }: PublicSurface): readonly string[] {
  const verbs = new Map<ts.Node, string>();
  for (const { name: entryPoint, exports } of entryPoints) {
    for (const [node, title] of exports.flatMap(({ name, symbol }) => documented(symbol, name))) {
      if (isVerb(node) && !verbs.has(node)) verbs.set(node, `${entryPoint}: ${title}`);
    }
  }
  return [...verbs.values()];
}

function isVerb(node: ts.Node): boolean {
  if (ts.getJSDocTags(node).some((tag) => tag.tagName.text === 'internal')) return false;
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) return true;
  return (
    ts.isMethodSignature(node) &&
    ts.isInterfaceDeclaration(node.parent) &&
    CALLED.includes(node.parent.name.text)
  );
}

/** Returns the declarations of a symbol and of its members, each with its title. */
function documented(symbol: ts.Symbol, name: string): readonly (readonly [ts.Node, string])[] {
  return (symbol.declarations ?? []).flatMap((declaration) => [
    [declaration, name] as const,
    ...(ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)
      ? [...declaration.members].flatMap((member) =>
          member.name ? [[member, `${name}.${member.name.getText()}`] as const] : [],
        )
      : []),
  ]);
}

function examplesOf(node: ts.Node): readonly string[] {
  return ts
    .getJSDocTags(node)
    .filter((tag) => tag.tagName.text === 'example')
    .map((tag) => codeIn(ts.getTextOfJSDocComment(tag.comment) ?? ''));
}

/** Returns the examples of a `@module` comment. It is before the first statement, but does not document it. */
function examplesOfModule(source: ts.SourceFile): readonly string[] {
  const [first] = source.statements;
  return first ? examplesOf(first) : [];
}

function codeIn(comment: string): string {
  return /^```ts\n([\s\S]*?)\n?```/m.exec(comment)?.[1] ?? comment;
}
