/**
 * Texts with separators between them, `¦` or the end of a line; blanks around them do not count. They are spelt as in JSON,
 * without quotes: what has to begin or end with a blank spells it `\u0020`. What is filled in stays as it is.
 */
export function texts({ raw }: TemplateStringsArray, ...values: readonly string[]): string[] {
  const spelt = raw.map((part) => part.replaceAll('"', String.raw`\"`))
  const filled = spelt.map((part, index) => part + JSON.stringify(values[index] ?? '').slice(1, -1))
  return filled
    .join('')
    .split(/[\n¦]/)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => String(JSON.parse(`"${text}"`)))
}
