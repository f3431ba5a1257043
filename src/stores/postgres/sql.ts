import { isStorable } from '../../domain/wellformed.ts';
/** A part of a statement: text with placeholders for values, so that no value is ever part of the text. */
export interface Sql {
  readonly parts: readonly string[];
  /** One value between each two parts. All are sent as text, and cast by the server. */
  readonly values: readonly (string | null)[];
}

/**
 * A query whose result has a form that costs the server less than rows of many columns. `memory`: it selects whole rows of the table
 * `memory`, as one column of that name. `text`: it selects one text, which may be long and is returned as a row with `text`.
 */
export interface FormedQuery extends Sql {
  readonly form: 'memory' | 'text';
}

/** A statement as a driver takes it. */
export interface Statement {
  readonly text: string;
  readonly values: (string | null)[];
}

/**
 * Makes a part of a statement. Values become parameters; parts within parts are joined.
 *
 * @example
 * ```ts
 * const wanted = sql`id = ${id}::text`;
 * statementOf(sql`SELECT title FROM memory WHERE ${wanted}`).text; // SELECT title FROM memory WHERE id = $1::text
 * ```
 */
export function sql(
  texts: TemplateStringsArray,
  ...given: readonly (Sql | string | number | null | undefined)[]
): Sql {
  const parts = [texts[0] ?? ''];
  const values: (string | null)[] = [];
  const append = (text: string) => {
    parts[parts.length - 1] += text;
  };
  for (const [index, each] of given.entries()) {
    if (typeof each === 'object' && each !== null) {
      append(each.parts[0] ?? '');
      for (const [at, value] of each.values.entries()) {
        values.push(value);
        parts.push(each.parts[at + 1] ?? '');
      }
    } else {
      values.push(each === undefined || each === null ? null : String(each));
      parts.push('');
    }
    append(texts[index + 1] ?? '');
  }
  return { parts, values };
}

/** Makes a part from a trusted text, such as the name of a column or table. */
export function raw(text: string): Sql {
  return { parts: [text], values: [] };
}

export function joined(parts: readonly Sql[], separator: string): Sql {
  return parts.reduce((all, part, at) => (at === 0 ? part : sql`${all}${raw(separator)}${part}`), raw(''));
}

export function statementOf({ parts, values }: Sql): Statement {
  return { text: parts.reduce((text, part, at) => `${text}$${at}${part}`), values: [...values] };
}

/** Returns a statement without parameters, for COPY, which takes none. Throws if a value has other than letters and digits. */
export function withoutParameters({ parts, values }: Sql): string {
  return parts.reduce((text, part, at) => {
    const value = values[at - 1] ?? '';
    if (!/^[a-z0-9]*$/i.test(value)) throw new Error('a value of other than letters and digits');
    return `${text}'${value}'${part}`;
  });
}

/** Quotes a name. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Makes a parameter for a text to look for. A text that cannot be stored becomes NULL, which equals nothing. */
export function wanted(text: string): Sql {
  return sql`${isStorable(text) ? text : null}::text`;
}

/** Makes a subquery that gives the texts to look for as rows of one column. */
export function wantedTexts(texts: readonly string[]): Sql {
  return sql`(SELECT json_array_elements_text(${JSON.stringify([...new Set(texts)].filter(isStorable))}::json))`;
}

/** Makes a subquery that gives whole numbers as rows of one column. */
export function wantedNumbers(numbers: readonly number[]): Sql {
  return sql`(SELECT json_array_elements_text(${JSON.stringify(numbers)}::json)::bigint)`;
}

/**
 * Makes a comparison of an indexed column with an array, which looks up one value after the other. With a subquery of rows instead,
 * PostgreSQL joins, and reads the whole table if it was not analysed yet. Do not use it without an index: every row would be
 * compared with every value.
 */
export function isAnyText(texts: readonly string[]): Sql {
  return sql`= ANY (ARRAY${wantedTexts(texts)})`;
}

/** Does the same as {@link isAnyText} with whole numbers. */
export function isAnyNumber(numbers: readonly number[]): Sql {
  return sql`= ANY (ARRAY${wantedNumbers(numbers)})`;
}

/** Makes a parameter for a number to compare with a `bigint` column. It may be fractional or infinite; a whole one can use an index. */
export function wantedNumber(number: number): Sql {
  return Number.isSafeInteger(number) ? sql`${number}::bigint` : sql`${number}::numeric`;
}
