/** What Foldgate says it did with a request, read from the headers of the answer. */
export type FoldgateHeaders = {
  /** `relayed`, `compacted`, …; null where the answer does not come from Foldgate. */
  readonly action: string | null
  readonly passes: readonly string[]
  /** Tokens of the conversation that came in; null where it was not counted. */
  readonly conversationTokens: number | null
  /** A bound above the conversation's tokens, where they were not counted. */
  readonly conversationTokensBelow: number | null
  readonly sentTokens: number | null
  /** Of the incoming conversation, as a ratio. */
  readonly pressure: number | null
  readonly windowTokens: number | null
  readonly summary: string | null
}

export function readFoldgateHeaders(header: (name: string) => string | null): FoldgateHeaders {
  const [action] = (header('x-foldgate-action') ?? '').split(';')
  const passes = (header('x-foldgate-passes') ?? '').split(',').map((pass) => pass.trim())
  // "<N" stands for a count that was not needed: it is known to be below N.
  const tokens = /^\s*(<?)(\d+)(?:\s*;\s*sent=(<?)(\d+))?/.exec(header('x-foldgate-tokens') ?? '')
  const pressure = Number.parseFloat(header('x-foldgate-pressure') ?? '')
  const window = Number.parseInt(header('x-foldgate-window') ?? '', 10)
  return {
    action: action === undefined || action === '' ? null : action,
    passes: passes.filter((pass) => pass !== '' && pass !== 'none'),
    conversationTokens: tokens?.[1] === '' ? Number(tokens[2]) : null,
    conversationTokensBelow: tokens?.[1] === '<' ? Number(tokens[2]) : null,
    sentTokens: tokens?.[3] === '' && tokens[4] !== undefined ? Number(tokens[4]) : null,
    pressure: Number.isNaN(pressure) ? null : pressure,
    windowTokens: Number.isNaN(window) ? null : window,
    summary: header('x-foldgate-summary'),
  }
}
