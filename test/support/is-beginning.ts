/** Whether the second list begins with the whole of the first. */
export function isBeginning(start: readonly string[], whole: readonly string[]): boolean {
  return start.every((item, index) => item === whole[index])
}
