import { hash } from 'node:crypto'
import { ruleBreaks, type Template } from '../strict-upstream/message-rules.ts'
import { openPrefixCache, type PromptPart } from '../strict-upstream/prefix-cache.ts'
import { openPromptCounter, REPLY_TOKENS } from '../strict-upstream/prompt-tokens.ts'
import { rawElements, rawMembers } from '../strict-upstream/raw-request.ts'
import {
  parseObject,
  textOf,
  textsOf,
  valueDigest,
  type WireMessage,
} from '../strict-upstream/wire-message.ts'
import { refusal, unread, type MessagesJudge, type MessagesJudgeOptions } from './judgement.ts'
import { blocksOf, readMessages, typeOf, type SentMessage, type WireBlock } from './wire-block.ts'

export type ImitatorOptions = {
  /** `strict`: roles alternate, and a system message stands in front only. */
  readonly template: Template
}

/**
 * Judges as a local engine does that serves this API: it makes chat messages of all blocks and puts them into the template
 * of its model. It knows nothing of signatures and marks, takes any field, and keeps the prefix of whatever came before.
 */
export function openImitatorJudge(
  options: Pick<MessagesJudgeOptions, 'windowTokens' | 'count'>,
  { template }: ImitatorOptions,
): MessagesJudge {
  const counter = openPromptCounter(options.count)
  const cache = openPrefixCache({ minimumTokens: 0, stepTokens: 1, count: options.count })

  return function judge(bodyText, _, owner) {
    const body = parseObject(bodyText)
    if (body === null) return { ...unread, rejection: refusal('body', 'The request body is not valid JSON.') }
    const messages = readMessages(body['messages'])
    const rawMessages = rawElements(rawMembers(bodyText).get('messages') ?? '')
    const given = { ...unread, body, rawMessages, messages }
    const chat = chatMessages(body, messages)
    const [broken] = ruleBreaks(chat, template)
    if (broken !== undefined)
      return { ...given, rejection: refusal('template', `Jinja Exception: ${broken.message}`) }

    const tools = blocksOf(body['tools']).map(({ name, description, input_schema: parameters }) => ({
      function: { name, description, parameters },
    }))
    const parts: readonly PromptPart[] = [
      partOf(tools, counter.tools(valueDigest(tools), tools)),
      ...chat.map((message) => partOf(message, counter.message(valueDigest(message), message))),
    ]
    const promptTokens = parts.reduce((sum, { tokens }) => sum + tokens, REPLY_TOKENS)
    const read = { ...given, promptTokens }
    const { windowTokens } = options
    const overflow = `request (${promptTokens} tokens) exceeds the available context size (${windowTokens} tokens), try increasing it`
    if (promptTokens > windowTokens) return { ...read, rejection: refusal('window', overflow) }
    const served = cache.serve(`${owner} ${textOf(body['model'])}`, parts)
    return { ...read, cache: { ...unread.cache, read: served }, rejection: null }
  }
}

/** The chat that a request is made into: results are messages of their own, thinking is none. */
function chatMessages(body: WireBlock, messages: readonly SentMessage[]): readonly WireMessage[] {
  const system = textsOf(blocksOf(body['system'])).join('')
  const told = system === '' ? [] : [{ role: 'system', content: system }]
  return [...told, ...messages.flatMap(chatMessagesOf)]
}

function chatMessagesOf({ role, blocks }: SentMessage): readonly WireMessage[] {
  const ofType = (type: string) => blocks.filter((block) => typeOf(block) === type)
  const results = ofType('tool_result').map((block) => ({
    role: 'tool',
    tool_call_id: block['tool_use_id'],
    content: textsOf(blocksOf(block['content'])).join('\n'),
  }))
  const calls = ofType('tool_use').map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const content = [
    ...ofType('text').map(({ text }) => ({ type: 'text', text })),
    ...ofType('image').map(({ source }) => ({ type: 'image_url', image_url: source })),
  ]
  if (content.length === 0 && calls.length === 0) return results
  const said = content.length === 0 ? null : content
  return [...results, { role, content: said, ...(calls.length > 0 && { tool_calls: calls }) }]
}

const partOf = (what: unknown, tokens: number): PromptPart => ({
  hash: hash('sha1', valueDigest(what)),
  tokens,
  text: null,
})
