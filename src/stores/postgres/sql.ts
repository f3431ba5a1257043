import { isStorable } from '../../domain/wellformed.ts';
/** A part of a statement: text with places for values, so that no value is ever part of the text. */
export interface Sql {
  readonly parts: readonly string[];
  /** One between each two parts. Everything goes to the server as text, and is cast there. */
  readonly values: readonly (string | null)[];
}

/**
 * A query whose answer comes in a form that costs the server less than rows of many columns. `memory`: it selects whole rows of
 * the table of memories, under that name. `text`: it selects one text, which may be long; it comes as a row with `text`.
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

/** Text of our own that is no value: names of columns and tables. */
export function raw(text: string): Sql {
  return { parts: [text], values: [] };
}

export function joined(parts: readonly Sql[], separator: string): Sql {
  return parts.reduce((all, part, at) => (at === 0 ? part : sql`${all}${raw(separator)}${part}`), raw(''));
}

export function statementOf({ parts, values }: Sql): Statement {
  return { text: parts.reduce((text, part, at) => `${text}$${at}${part}`), values: [...values] };
}

/** For COPY, which takes no parameters: values of letters and digits alone become a part of the text. */
export function withoutParameters({ parts, values }: Sql): string {
  return parts.reduce((text, part, at) => {
    const value = values[at - 1] ?? '';
    if (!/^[a-z0-9]*$/i.test(value)) throw new Error('a value of other than letters and digits');
    return `${text}'${value}'${part}`;
  });
}

/** A name, whatever it is made of. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text that is looked for: NULL, which nothing equals, for one that nothing can hold. */
export function wanted(text: string): Sql {
  return sql`${isStorable(text) ? text : null}::text`;
}

/** Texts that are looked for, as a set of rows of one column. */
export function wantedTexts(texts: readonly string[]): Sql {
  return sql`(SELECT json_array_elements_text(${JSON.stringify([...new Set(texts)].filter(isStorable))}::json))`;
}

/** The same of whole numbers. */
export function wantedNumbers(numbers: readonly number[]): Sql {
  return sql`(SELECT json_array_elements_text(${JSON.stringify(numbers)}::json)::bigint)`;
}

/**
 * What one column of an index is compared with, one value after the other: a set of rows is joined, for which a table that
 * nobody has analysed yet is read as a whole. Not for what no index serves: every row would be compared with each of them.
 */
export function isAnyText(texts: readonly string[]): Sql {
  return sql`= ANY (ARRAY${wantedTexts(texts)})`;
}

/** The same of whole numbers. */
export function isAnyNumber(numbers: readonly number[]): Sql {
  return sql`= ANY (ARRAY${wantedNumbers(numbers)})`;
}

/** A number that is compared with whole ones, and may be neither whole nor finite. Whole, it lets an index serve. */
export function wantedNumber(number: number): Sql {
  return Number.isSafeInteger(number) ? sql`${number}::bigint` : sql`${number}::numeric`;
}
