import { hash } from 'node:crypto'
import type { PromptPart } from '../../support/strict-upstream/prefix-cache.ts'
import { openPromptCounter, REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
import { textOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import type { Tokenizer } from './usage-kinds.ts'

/** What a server is sent, as far as it makes up the prompt. */
export type Prompt = {
  readonly messages: readonly PromptMessage[]
  readonly tools: unknown
  /** Equal for tools of equal JSON. */
  readonly toolsKey: string
}

export type PromptMessage = {
  readonly message: WireMessage
  /** Equal for messages of equal JSON. */
  readonly key: string
}

export type TrueCounter = {
  /** The tools, then each message, in the server's tokens. */
  readonly parts: (prompt: Prompt) => readonly PromptPart[]
  /** The whole prompt, in whole tokens. */
  readonly total: (parts: readonly PromptPart[]) => number
  readonly text: (text: string) => number
}

/** Counts prompts as a server with this tokenizer does, each message once. `count` is our own. */
export function openTrueCounter(tokenizer: Tokenizer, count: (text: string) => number): TrueCounter {
  const { ratio, cjkRatio, countsImages, countsThoughts } = tokenizer
  const text = (written: string) => {
    const cjk = written.match(cjkRuns)?.join('') ?? ''
    if (cjk === '' || cjkRatio === ratio) return count(written) * ratio
    return count(written.replaceAll(cjkRuns, '')) * ratio + count(cjk) * cjkRatio
  }
  const counter = openPromptCounter(text)

  return {
    parts: ({ messages, tools, toolsKey }) => {
      const latestUser = messages.findLastIndex(({ message }) => message.role === 'user')
      const parts = messages.map(({ message, key }, index): PromptPart => {
        const isThought = countsThoughts === 'all' || (countsThoughts === 'newest' && index > latestUser)
        const name = isThought ? key : `${key} without its thought`
        return { hash: name, tokens: counter.message(name, shown(message, isThought)), text: null }
      })
      return [{ hash: toolsKey, tokens: counter.tools(toolsKey, tools), text: null }, ...parts]
    },
    total: (parts) => Math.round(REPLY_TOKENS + parts.reduce((sum, { tokens }) => sum + tokens, 0)),
    text,
  }

  /** A message as the template writes it. */
  function shown(message: WireMessage, isThought: boolean): WireMessage {
    const texts =
      countsImages || !Array.isArray(message.content) ? message.content : withoutMedia(message.content)
    if (message.role !== 'assistant') return { ...message, content: texts }
    if (!isThought) return { ...message, content: withoutThought(texts) }
    const thought = 'reasoning_content' in message ? textOf(message.reasoning_content) : ''
    return { ...message, content: thought === '' ? texts : `${thought}\n${textOf(texts)}` }
  }
}

/** What tells a message, or tools, from others, by their JSON. */
export function keyOf(raw: string): string {
  return hash('sha1', raw)
}

// --- internal ---

/** Han, kana, hangul, and the marks and full-width forms that go with them. */
const cjkRuns = /[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+/g

function withoutMedia(content: readonly unknown[]): readonly unknown[] {
  return content.filter((part) => typeof part === 'object' && part !== null && 'text' in part)
}

function withoutThought(content: unknown): unknown {
  return typeof content === 'string' ? content.replace(/<think>[^]*<\/think>/, '') : content
}
