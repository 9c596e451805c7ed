/**
 * One line with single spaces and straight apostrophes, in which what was escaped once or several times reads as if
 * it never had been. Written as a loop because the text is a stranger's and its cost must be linear.
 */
export function plainText(text: string): string {
  let plain = ''
  let afterSpace = true
  let index = 0
  while (index < text.length) {
    let character = text.charAt(index++)
    if (character === '\\') {
      while (text.charAt(index) === '\\') index++
      character = text.charAt(index++)
      if (character === 'n' || character === 'r' || character === 't') character = ' '
      const hex = character === 'u' ? text.slice(index, index + 4) : ''
      if (/^[\da-f]{4}$/i.test(hex)) {
        character = String.fromCharCode(Number.parseInt(hex, 16))
        index += 4
      }
    }
    if (character === '\u2019' || character === '\u2018') character = "'"
    const isSpace = character === '' || /\s/.test(character)
    if (!isSpace) plain += character
    else if (!afterSpace) plain += ' '
    afterSpace = isSpace
  }
  return plain.trimEnd()
}
