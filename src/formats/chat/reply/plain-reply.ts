import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import type { CallRules, PlainReply, Seam } from '../../answer-contract.ts'
import { readUsage } from '../answers.ts'
import { addedFields } from '../thoughts.ts'
import { mergedDelta } from './merged-delta.ts'
import { type ChatReply, dropsIncomplete, readReply, shownReason } from './reply.ts'
import { addUsage } from '../../usage-sum.ts'

export function createPlainReply(rules: CallRules): PlainReply {
  let isFirst = true
  let seam: Seam | null = null
  let latest: { readonly body: JsonObject; readonly reply: ChatReply } | null = null
  /** What the answers before the latest had said. */
  let before: JsonObject = {}
  let logprobsBefore: JsonObject = {}
  let textBefore = ''
  let identity: JsonObject = {}
  let usageBefore: JsonObject | null = null

  function addedOf(body: JsonObject): JsonObject {
    return isFirst ? messageIn(body) : addedFields(messageIn(body))
  }

  function joinedLogprobs(body: JsonObject): JsonObject {
    const logprobs = mergedDelta(logprobsBefore, logprobsIn(body))
    return Object.keys(logprobs).length === 0 ? {} : { logprobs }
  }

  return {
    take: (body) => {
      const read = readReply(body)
      latest = null
      if (read === null || !isJsonObject(body)) return null
      const text = seam === null || read.text === null ? read.text : seam.feed(read.text) + seam.end()
      const reply = { ...read, text }
      latest = { body, reply }
      return reply
    },
    goOn: (next) => {
      seam = next
      if (latest === null) return
      const { body, reply } = latest
      if (isFirst) identity = Object.fromEntries(Object.entries(body).filter(([key]) => identifying.has(key)))
      before = mergedDelta(before, { ...addedOf(body), content: null })
      isFirst = false
      logprobsBefore = mergedDelta(logprobsBefore, logprobsIn(body))
      textBefore += reply.text ?? ''
      usageBefore = reply.usage === null ? usageBefore : addUsage(usageBefore, reply.usage)
    },
    finish: () => {
      if (latest === null) return null
      const { body, reply } = latest
      const all = reply.calls.map(({ json }) => json)
      const drops = dropsIncomplete(all, reply.finishReason, rules)
      const calls = reply.calls.filter(
        ({ name, isIncomplete }) => name !== rules.toolName && !(drops && isIncomplete),
      )
      if (isFirst && calls.length === all.length) return null
      const { tool_calls: _calls, content, ...rest } = addedOf(body)
      const message = {
        ...mergedDelta(before, rest),
        content: joined(textBefore, reply.text, content),
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ json }) => json) }),
      }
      const reason = shownReason(all, reply.finishReason, rules)
      return {
        ...body,
        ...identity,
        choices: [{ ...choiceIn(body), ...joinedLogprobs(body), message, finish_reason: reason }],
        ...(reply.usage === null ? {} : { usage: addUsage(usageBefore, reply.usage) }),
      }
    },
    usage: () => {
      const usage = latest?.reply.usage ?? null
      return readUsage({ usage: usage === null ? usageBefore : addUsage(usageBefore, usage) })
    },
  }
}

// --- internal ---

const identifying: ReadonlySet<string> = new Set(['id', 'created'])

function choiceIn(body: JsonObject): JsonObject {
  const [choice]: unknown[] = Array.isArray(body['choices']) ? body['choices'] : []
  return isJsonObject(choice) ? choice : {}
}

function messageIn(body: JsonObject): JsonObject {
  const { message } = choiceIn(body)
  return isJsonObject(message) ? message : {}
}

function logprobsIn(body: JsonObject): JsonObject {
  const { logprobs } = choiceIn(body)
  return isJsonObject(logprobs) ? logprobs : {}
}

/** No text stays what it was: null, or ''. A content in parts gets one more. */
function joined(before: string, text: string | null, content: unknown): unknown {
  if (text !== null) return before + text === '' ? content : before + text
  return before === '' || !Array.isArray(content) ? content : [{ type: 'text', text: before }, ...content]
}
