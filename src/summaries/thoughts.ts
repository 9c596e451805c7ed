/**
 * A text without the thoughts that a model wrote before it: in `<think>` tags and the like, closed or not. Some
 * templates open the tag in the prompt, so that only its end is in the answer.
 */
export function withoutThoughts(text: string): string {
  let start = 0
  for (;;) {
    opening.lastIndex = start
    const opened = opening.exec(text)
    if (opened === null) break
    // From where it opened on: of thousands of them none is looked for in all of the text.
    const closing = new RegExp(`</${opened[1] ?? ''}>`, 'gi')
    closing.lastIndex = opening.lastIndex
    if (!closing.test(text)) return ''
    start = closing.lastIndex
  }
  const left = text.slice(start).trimStart()
  const end = left.indexOf(LONE_END)
  // A summary may speak of the tag: then headings stand before it.
  const isLone =
    end !== -1 && !/^#{1,4} /m.test(left.slice(0, end)) && !left.slice(0, end).includes('<think>')
  return isLone ? left.slice(end + LONE_END.length).trimStart() : left
}

// --- internal ---

/** Behind blanks, where the search stands. */
const opening = /\s*<(think|thinking|thought|reasoning)>/iy

const LONE_END = '</think>'
