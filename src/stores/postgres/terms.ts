/**
 * The numbers of terms in this process. The database has the terms themselves beside each memory: no table of all words is
 * written to by every write of a space, and nothing is left of a word that no memory has.
 */
export interface Terms {
  /** The number of a term, which gets one if it is new. */
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
