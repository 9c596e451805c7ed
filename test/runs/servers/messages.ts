import { chatOf, type Step } from '../../support/messages/chat.ts'
import type { WireBlock } from '../../support/messages/wire-block.ts'
import { isObject, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { parsed, SHOWN_CHARS, type Api } from './api.ts'

export const messages: Api = {
  path: 'messages',
  bodyOf: ({ messages: texts, isStreamed, outputTokens }) => {
    const { system, steps } = chatOf(texts.map(messageOf))
    const more = isStreamed ? ',"stream":true' : ''
    const history = JSON.stringify(historyOf(steps))
    return `"max_tokens":${outputTokens}${more},"system":${JSON.stringify(system ?? '')},"messages":${history}`
  },
  plainProblem: (text) => (isWhole(parsed(text)) ? null : `no answer: ${text.slice(0, SHOWN_CHARS)}`),
  streamProblem: (parts, text) => {
    const end = parts.find((part) => isObject(part) && part['type'] === 'message_delta')
    const isEnded = isStopped(isObject(end) ? end['delta'] : null) && typeIn(parts.at(-1)) === 'message_stop'
    return isEnded ? null : `a stream without an end: ${text.slice(-SHOWN_CHARS)}`
  },
  hasOutput: (part) => typeIn(part) === 'content_block_delta' || isWhole(part),
  promptFigures: (part) => {
    const told = isObject(part) && typeIn(part) === 'message_start' ? part['message'] : part
    if (!isObject(told) || !isObject(told['usage']) || typeIn(told) !== 'message') return null
    const { input_tokens: anew, cache_read_input_tokens: read } = told['usage']
    const evaluatedTokens = typeof read === 'number' ? Number(anew) : null
    return { tokens: Number(anew) + (typeof read === 'number' ? read : 0), evaluatedTokens }
  },
}

// --- internal ---

function messageOf(text: string): WireMessage {
  const message: WireMessage = JSON.parse(text)
  return message
}

/** All of it as a client sends it that was told each reply. */
function historyOf(steps: readonly Step[]): readonly object[] {
  const history: { role: string; content: readonly WireBlock[] }[] = []
  for (const step of steps) {
    const [role, content] = step.kind === 'input' ? [step.role, step.blocks] : ['assistant', step.told]
    const before = step.kind === 'input' && step.joins ? history.at(-1) : undefined
    if (before !== undefined) before.content = [...before.content, ...content]
    else if (content.length > 0) history.push({ role, content })
  }
  return history
}

function isWhole(message: unknown): boolean {
  return isObject(message) && Array.isArray(message['content']) && isStopped(message)
}

function isStopped(told: unknown): boolean {
  return isObject(told) && typeof told['stop_reason'] === 'string'
}

function typeIn(part: unknown): unknown {
  return isObject(part) ? part['type'] : null
}
