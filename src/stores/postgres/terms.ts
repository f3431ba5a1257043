/**
 * Numbers the terms within this process. The database stores the terms as text with each memory. So writes of a space share no table
 * of words, and no word remains once no memory has it.
 */
export interface Terms {
  /** Returns the number of a term. A new term gets the next number. */
  numberOf(text: string): number;
  known(text: string): number | undefined;
  textOf(number: number): string | undefined;
}

export function createTerms(): Terms {
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    numberOf(text) {
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.push(text) - 1;
        numbers.set(text, number);
      }
      return number;
    },
    known: (text) => numbers.get(text),
    textOf: (number) => texts[number],
  };
}
