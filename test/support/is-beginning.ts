/** Whether the second list begins with the whole of the first. */
export const isBeginning = (start: readonly string[], whole: readonly string[]): boolean =>
  start.every((item, index) => item === whole[index])
