import { join } from 'node:path';
import ts from 'typescript';
import { root } from './public-surface.ts';

/**
 * Compiles modules, given as text by name, in one program that is as strict as the source. Returns the errors of each module.
 * Imports resolve as if the modules were in `test/docs`; none is written to disk.
 */
export function problemsOf(modules: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const unchecked = { noUnusedLocals: false, noUnusedParameters: false, incremental: false };
  const pathOf = (name: string) => join(root, 'test', 'docs', name);
  const files = new Map([...modules].map(([name, text]) => [pathOf(name), text]));
  const host = ts.createCompilerHost({ ...options, ...unchecked });
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = files.get(file);
    return text === undefined
      ? getSourceFile(file, version, ...rest)
      : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], { ...options, ...unchecked }, host);
  return new Map(
    [...modules.keys()].map((name) => {
      const source = program.getSourceFile(pathOf(name));
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return [name, found.map(describeDiagnostic)];
    }),
  );
}

export function toJavaScript(module: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  return ts.transpileModule(module, { compilerOptions }).outputText;
}

function describeDiagnostic({ file, start, messageText }: ts.Diagnostic): string {
  const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
  return `${file?.text.split('\n')[line]?.trim()}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
}
