/**
 * A text without the thoughts that a model wrote before it: in `<think>` tags and the like, closed or not. Some
 * templates open the tag in the prompt, so that only its end is in the answer.
 */
export function withoutThoughts(text: string): string {
  let left = text.trimStart()
  for (;;) {
    const opening = /^<(think|thinking|thought|reasoning)>/i.exec(left)
    if (opening === null) break
    const closing = `</${opening[1] ?? ''}>`.toLowerCase()
    const end = left.toLowerCase().indexOf(closing)
    if (end === -1) return ''
    left = left.slice(end + closing.length).trimStart()
  }
  const end = left.indexOf(LONE_END)
  // A summary may speak of the tag: then headings stand before it.
  const isLone =
    end !== -1 && !/^#{1,4} /m.test(left.slice(0, end)) && !left.slice(0, end).includes('<think>')
  return isLone ? left.slice(end + LONE_END.length).trimStart() : left
}

// --- internal ---

const LONE_END = '</think>'
