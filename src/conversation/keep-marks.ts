/**
 * What stands between `<keep>` and `</keep>` in a text, in its order, without blanks around it. A mark without the other is
 * none, and one within two others is a part of what they hold.
 */
export function keptIn(text: string): readonly string[] {
  const kept: string[] = []
  for (let from = 0; ;) {
    const start = text.indexOf(OPENING, from)
    const end = start === -1 ? -1 : text.indexOf(CLOSING, start)
    if (end === -1) return kept
    const passage = text.slice(start + OPENING.length, end).trim()
    if (passage !== '') kept.push(passage)
    from = end + CLOSING.length
  }
}

// --- internal ---

const OPENING = '<keep>'
const CLOSING = '</keep>'
