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
    // Only behind its opening: with thousands of tags the whole text would be searched for each.
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

/** An opening tag, behind blanks, at the place where the search stands. */
const opening = /\s*<(think|thinking|thought|reasoning)>/iy

const LONE_END = '</think>'
