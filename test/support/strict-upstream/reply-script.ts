/** What the strict upstream answers to a request that it accepts. */
export type ReplyScript = {
  readonly content: string | null
  readonly toolCalls?: readonly ScriptedCall[]
}

export type ScriptedCall = { readonly id: string; readonly name: string; readonly argumentsText: string }

export type ReplyUsage = {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
}

/** What stands in every body and chunk of one reply. */
export type ReplyFrame = { readonly id: string; readonly model: string; readonly createdS: number }

/** The body of a plain answer; `usage` null where the server states none. */
export function plainReply(frame: ReplyFrame, script: ReplyScript, usage: ReplyUsage | null): string {
  const calls = script.toolCalls ?? []
  const message = {
    role: 'assistant',
    content: script.content,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls.map(callBody) }),
  }
  return JSON.stringify({
    ...head(frame, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(script) }],
    ...(usage !== null && { usage: usageBody(usage) }),
  })
}

/** The events of a streamed answer, `[DONE]` included. With `usageAsked`, a last chunk states the usage. */
export function* streamedReply(
  frame: ReplyFrame,
  script: ReplyScript,
  usage: ReplyUsage | null,
  usageAsked: boolean,
): Generator<string> {
  const shared = { ...head(frame, 'chat.completion.chunk'), ...(usageAsked && { usage: null }) }
  const chunk = (delta: object, finishReason: string | null = null) =>
    event(
      JSON.stringify({
        ...shared,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      }),
    )

  yield chunk({ role: 'assistant', content: script.content === null ? null : '', refusal: null })
  for (const content of piecesOf(script.content ?? '')) yield chunk({ content })
  for (const [index, call] of (script.toolCalls ?? []).entries()) {
    const { id, type, function: called } = callBody(call)
    yield chunk({ tool_calls: [{ index, id, type, function: { ...called, arguments: '' } }] })
    for (const piece of piecesOf(call.argumentsText)) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  yield chunk({}, finishReasonOf(script))
  if (usageAsked && usage !== null)
    yield event(JSON.stringify({ ...shared, choices: [], usage: usageBody(usage) }))
  yield event('[DONE]')
}

// About what a server sends at a time when it generates faster than the client reads.
const PIECE_CHARACTERS = 40

const event = (data: string): string => `data: ${data}\n\n`

const head = (frame: ReplyFrame, object: string) => ({
  id: frame.id,
  object,
  created: frame.createdS,
  model: frame.model,
  system_fingerprint: 'fp_strict',
})

function callBody(call: ScriptedCall) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.argumentsText } }
}

const finishReasonOf = (script: ReplyScript): string =>
  (script.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop'

const usageBody = (usage: ReplyUsage) => ({
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedTokens, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
})

/** Pieces of a text, never cut inside a character. */
export function* piecesOf(text: string): Generator<string> {
  let start = 0
  while (start < text.length) {
    let end = Math.min(text.length, start + PIECE_CHARACTERS)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end += 1
    yield text.slice(start, end)
    start = end
  }
}
