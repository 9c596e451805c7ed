import { isJsonObject, stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { CallRules, PlainReply, Reply, Seam } from '../../answer-contract.ts'
import { sumUsage, totalUsage } from '../usage.ts'
import { createBlockGate } from './block-gate.ts'
import { contentOf, contentText, isTextBlock, joinedBlocks } from './blocks.ts'
import { dropsCutToolUse, shownStopReason } from './joined-message.ts'
import { messageReply, readMessageReply } from './reply.ts'

export function createPlainMessage(rules: CallRules): PlainReply {
  let seam: Seam | null = null
  let latest: Latest | null = null
  /** What the client sees of the answers before the latest. */
  let shownBefore: readonly JsonObject[] = []
  /** Whether the last of it is a text that was cut. */
  let isOpen = false
  let identity: JsonObject | null = null
  let usageBefore: JsonObject | null = null

  /**
   * What the client sees of an answer, and why it ended. A call that was cut is made again if another follows. No server takes
   * an empty text back.
   */
  function shownOf({ body, blocks, reply }: Latest, isLast: boolean) {
    const isFurther = identity !== null
    const gate = createBlockGate(rules, isFurther)
    const shown = blocks.filter((block) => {
      const isEmpty = isFurther && isTextBlock(block) && block['text'] === ''
      return gate.take(block) && !isEmpty
    })
    const cut = reply.calls.find(({ isIncomplete }) => isIncomplete)?.json
    const isCut = cut !== undefined && shown.at(-1) === cut
    const drops = dropsCutToolUse(gate.counts(), isCut, rules)
    return {
      shown: isCut && (drops || !isLast) ? shown.slice(0, -1) : shown,
      reason: shownStopReason(gate.counts(), body['stop_reason'], drops),
    }
  }

  function joined(next: readonly JsonObject[]): readonly JsonObject[] {
    return isOpen ? joinedBlocks(shownBefore, next) : [...shownBefore, ...next]
  }

  function usage(): JsonObject | null {
    return sumUsage(usageBefore, latest?.reply.usage ?? null)
  }

  return {
    take: (body) => {
      latest = null
      if (readMessageReply(body) === null || !isJsonObject(body)) return null
      const came = contentOf(body)
      const blocks = seam === null ? came : joinedBy(seam, came)
      latest = {
        body,
        blocks,
        reply: messageReply(came, body['stop_reason'], body['usage'], contentText(blocks)),
      }
      return latest.reply
    },
    goOn: (next) => {
      seam = next
      if (latest === null) return
      const { body, blocks, reply } = latest
      const { shown } = shownOf(latest, false)
      if (shown.length > 0) {
        shownBefore = joined(shown)
        const last = shown.at(-1)
        isOpen =
          rules.continues &&
          reply.finish === 'length' &&
          last !== undefined &&
          isTextBlock(last) &&
          last === blocks.at(-1)
      }
      usageBefore = usage()
      identity ??= identityOf(body)
      latest = null
    },
    finish: () => {
      if (latest === null) return null
      const { body, blocks } = latest
      const { shown, reason } = shownOf(latest, true)
      const content = joined(shown)
      if (identity === null && content.length === blocks.length) return null
      const total = usage()
      return {
        ...body,
        ...identity,
        content,
        stop_reason: reason,
        ...(total === null ? {} : { usage: total }),
      }
    },
    usage: () => totalUsage(usage()),
  }
}

// --- internal ---

/** An answer, with its texts as the client sees them. */
type Latest = { readonly body: JsonObject; readonly blocks: readonly JsonObject[]; readonly reply: Reply }

/** What a stream says at its beginning: whose message it is, and what was left out of the client's request. */
function identityOf(body: JsonObject): JsonObject {
  const keys = ['id', 'input_transformations'].filter((key) => key in body)
  return Object.fromEntries(keys.map((key) => [key, body[key]]))
}

/** The blocks with their texts as the seam joins them to what was said before. */
function joinedBy(seam: Seam, blocks: readonly JsonObject[]): readonly JsonObject[] {
  return blocks.map((block) =>
    isTextBlock(block) ? { ...block, text: seam.feed(stringOr(block['text'], '')) + seam.end() } : block,
  )
}
