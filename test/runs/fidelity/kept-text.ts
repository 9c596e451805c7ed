/** What a shortened text still holds of its original. */
export type KeptText = {
  /** Its head, its tail, and whole lines between them, each as it stands in the original. */
  readonly pieces: readonly string[]
  /** How many characters it says of its own: a mark. */
  readonly ownCharacters: number
}

/**
 * Compares by where texts begin and end, and knows no wording of marks. What stands between head and tail is taken line
 * by line, since a preview that was clipped has two marks.
 */
export function keptText(original: string, shortened: string): KeptText {
  const head = commonHead(original, shortened)
  const tail = commonTail(original.slice(head.length), shortened.slice(head.length))
  const between = shortened.slice(head.length, shortened.length - tail.length)
  const lines = linesIn(original.slice(head.length, original.length - tail.length), between)
  const ownCharacters = between.length - lines.reduce((sum, line) => sum + line.length, 0)
  return { pieces: [head, ...lines, tail].filter((piece) => piece !== ''), ownCharacters }
}

/**
 * The same for a text that stands inside a longer one, where messages were joined: its longest beginning that stands
 * there, and its longest end behind that.
 */
export function keptInside(original: string, longer: string): KeptText {
  const head = original.slice(
    0,
    longest(original.length, (length) => longer.includes(original.slice(0, length))),
  )
  const headEnd = longer.indexOf(head) + head.length
  const rest = original.slice(head.length)
  const tail = lastOf(
    rest,
    longest(rest.length, (length) => longer.includes(lastOf(rest, length), headEnd)),
  )
  return { pieces: [head, tail].filter((piece) => piece !== ''), ownCharacters: 0 }
}

// --- internal ---

function commonHead(one: string, other: string): string {
  let length = 0
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1
  return one.slice(0, length)
}

function commonTail(one: string, other: string): string {
  let length = 0
  const most = Math.min(one.length, other.length)
  while (
    length < most &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  )
    length += 1
  return lastOf(one, length)
}

/** The lines of a text that stand in the original, each behind the one before it. */
function linesIn(original: string, text: string): readonly string[] {
  let from = 0
  return text.split('\n').filter((line) => {
    if (line.trim() === '') return false
    const at = original.indexOf(line, from)
    if (at === -1) return false
    from = at + line.length
    return true
  })
}

/** The greatest length up to a limit for which it holds, where it holds for all lengths below one that it holds for. */
function longest(limit: number, holds: (length: number) => boolean): number {
  let [known, beyond] = [0, limit + 1]
  while (beyond - known > 1) {
    const length = Math.floor((known + beyond) / 2)
    if (holds(length)) known = length
    else beyond = length
  }
  return known
}

function lastOf(text: string, length: number): string {
  return text.slice(text.length - length)
}
