/** Choices that are the same in every run with the same seed. */
export type Dice = ReturnType<typeof openDice>

/** Dice for a seed: xorshift over 32 bits, which needs no quality here beyond variety. */
export function openDice(seed: number) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0 || 1
  /** A whole number from 0 up to, not including, `limit`. */
  const below = (limit: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  // The first values of neighbouring seeds resemble each other.
  for (let warm = 0; warm < 8; warm += 1) below(2)
  return {
    below,
    pick: <Choice>(choices: readonly [Choice, ...Choice[]]): Choice =>
      choices[below(choices.length)] ?? choices[0],
    /** Lower-case hexadecimal digits. */
    hex: (digits: number): string => Array.from({ length: digits }, () => below(16).toString(16)).join(''),
  }
}

/** A seed made of a text, so that what is generated for a name is always the same. */
export function seedOf(text: string): number {
  let seed = 7
  for (let index = 0; index < text.length; index += 1)
    seed = (Math.imul(seed, 31) + text.charCodeAt(index)) >>> 0
  return seed
}
