/**
 * An answer without what models like to put around all of it: a block of code, a `<summary>` tag, the tags that a
 * summary stands in, in any order.
 */
export function unwrapped(text: string): string {
  let left = text.trim()
  for (let layer = 0; layer < LAYERS_MAX; layer += 1) {
    const inner = inCode(left) ?? inTags(left)
    if (inner === null) break
    left = inner.trim()
  }
  return left
}

// --- internal ---

const LAYERS_MAX = 4

function inCode(text: string): string | null {
  const opening = /^```[a-z]{0,16}[ \t]*\n/i.exec(text)
  if (opening === null || !text.endsWith('\n```')) return null
  const inner = text.slice(opening[0].length, -'\n```'.length)
  // Two blocks one after the other are no block around all.
  return (inner.match(/^```/gm) ?? []).length % 2 === 0 ? inner : null
}

function inTags(text: string): string | null {
  const opening = /^<(summary|conversation-summary|conversation-recap)>/i.exec(text)
  if (opening === null) return null
  const closing = `</${opening[1] ?? ''}>`
  const hasClosing = text.toLowerCase().endsWith(closing.toLowerCase())
  return text.slice(opening[0].length, hasClosing ? -closing.length : undefined)
}
