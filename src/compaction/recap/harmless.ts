/** A unit of a surrogate pair without the other: what a cut may leave, and what some servers refuse. */
const halfCharacter = /\p{Surrogate}/gu

/**
 * Text of a conversation as it may stand in a recap or a summary: it holds no half of a character, and then can
 * neither end the tag that it stands in nor open another.
 */
export function harmless(text: string): string {
  // Nearly every text is whole, which the engine knows at once.
  const whole = text.isWellFormed() ? text : text.replace(halfCharacter, '')
  return whole.replace(/<(?=\/?conversation-)/gi, '<\\')
}
