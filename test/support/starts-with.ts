/** Whether a view of messages begins with the bytes of another. */
export function startsWith(longer: readonly string[], shorter: readonly string[]): boolean {
  return shorter.every((text, index) => longer[index] === text)
}
