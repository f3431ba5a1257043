import ts from 'typescript';

const swapped = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
]);

/**
 * Returns every small change of a TypeScript source that a test should detect: a swapped operator, a condition that is
 * always or never true, a removed statement, a changed constant, a function that returns at once. Each mutant is a text
 * that replaces the source from `start` to `end`. Types, imports and strings are not changed.
 */
export function mutantsOf(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const found = [];
  const add = (start, end, replacement, name) => {
    const { line } = source.getLineAndCharacterOfPosition(start);
    const shown = text.slice(start, end).replaceAll(/\s+/g, ' ');
    const plain = name ?? `${shown} → ${replacement}`;
    const alike = found.filter((each) => each.line === line + 1 && each.plain === plain).length;
    const change = alike === 0 ? plain : `${plain} (${alike + 1})`;
    found.push({ start, end, replacement, plain, change, line: line + 1, source: lines[line].trim() });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isTypeAliasDeclaration(node) || ts.isThrowStatement(node)) return;
    mutate(node, source, text, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function mutate(node, source, text, add) {
  const start = node.getStart(source);
  if (ts.isBinaryExpression(node)) {
    const { operatorToken: operator, left, right } = node;
    const other = swapped.get(operator.kind);
    const joinsTexts =
      operator.kind === ts.SyntaxKind.PlusToken && [left, right].some(ts.isStringLiteralLike);
    if (other !== undefined && !joinsTexts) add(operator.getStart(source), operator.end, other, undefined);
    if (operator.kind === ts.SyntaxKind.QuestionQuestionToken) {
      add(start, node.end, text.slice(left.getStart(source), left.end), 'no default');
    }
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add(start, node.operand.getStart(source), '', `${node.getText(source)} without !`);
  } else if (ts.isIfStatement(node)) {
    condition(node.expression, source, add);
  } else if (ts.isConditionalExpression(node)) {
    condition(node.condition, source, add);
  } else if (ts.isNumericLiteral(node)) {
    add(start, node.end, String(Number(node.text) === 0 ? 1 : Number(node.text) * 2), undefined);
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) {
    add(start, node.end, 'false', undefined);
  } else if (node.kind === ts.SyntaxKind.FalseKeyword) {
    add(start, node.end, 'true', undefined);
  } else if (ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node)) {
    add(start, node.end, ';', `without ${node.getText(source).replaceAll(/\s+/g, ' ').slice(0, 60)}`);
  } else if (ts.isPropertyAccessExpression(node) && node.expression.getText(source) === 'Math') {
    const other = { min: 'max', max: 'min', floor: 'ceil', ceil: 'floor' }[node.name.text];
    if (other) add(start, node.end, `Math.${other}`, undefined);
  } else if (ts.isFunctionLike(node) && node.body && ts.isBlock(node.body)) {
    const at = node.body.getStart(source) + 1;
    add(at, at, ' return;', `${node.name?.getText(source) ?? 'function'} returns at once`);
  }
}

function condition(expression, source, add) {
  for (const value of ['true', 'false']) {
    const shown = expression.getText(source).replaceAll(/\s+/g, ' ');
    add(expression.getStart(source), expression.end, value, `if (${shown}) → ${value}`);
  }
}
