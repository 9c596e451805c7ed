/**
 * What stands between `<keep>` and `</keep>` in a text, in its order, without blanks around it. A mark without the other is
 * none, and one within two others is a part of what they hold.
 */
export function keptIn(text: string): readonly string[] {
  if (!text.includes(OPENING)) return NONE
  const kept: string[] = []
  let [depth, start] = [0, 0]
  for (const { 0: mark, index } of text.matchAll(/<\/?keep>/g)) {
    if (mark === OPENING) {
      if (depth === 0) start = index + OPENING.length
      depth += 1
      continue
    }
    if (depth === 0) continue
    depth -= 1
    const passage = depth === 0 ? text.slice(start, index).trim() : ''
    if (passage !== '') kept.push(passage)
  }
  return kept
}

/** Whether a piece of JSON may hold such a passage: it has a mark, or a letter of one as an escape. */
export function mayHoldKept(json: string): boolean {
  return /<keep>|\\u00[3-7]/.test(json)
}

// --- internal ---

const OPENING = '<keep>'

const NONE: readonly never[] = []
