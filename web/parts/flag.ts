/** Returns the value of a flag in the address, `undefined` if it is neither `true` nor `false`. */
export function flagOf(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}
