import type { Seen } from './wire/ask.ts'

/** What a client saw, as a cell of the table says it. */
export function seenText(seen: Seen): string {
  const { status, ownCode } = seen
  if (status === null) return 'the connection ends without an answer'
  const parts = [ownCode === null ? `\`${status}\`` : `\`${status}\` \`${ownCode}\``]
  const retryAfter = seen.header('retry-after')
  if (retryAfter !== null) parts.push(`\`retry-after: ${retryAfter}\``)
  const action = seen.header('x-foldgate-action') ?? ''
  if (!ordinaryActions.has(action)) parts.push(`\`${action}\``)
  if (seen.isWhole) return parts.join(', ')
  return `${parts.join(', ')}, then the connection is cut`
}

// --- internal ---

const ordinaryActions: ReadonlySet<string> = new Set(['', 'relayed', 'compacted'])
