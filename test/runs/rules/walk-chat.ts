import { loadCounter } from '../../../src/tokens/encodings.ts'
import type { WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { cheapUpstream, startSummaryModel, withCheapSummaries } from '../../support/summary-model.ts'
import { openStage, refusedIn } from '../harness/stage.ts'
import { makeChat, type AskedRule, type Chat, type ChatOrder } from './chat.ts'
import { openViewJudge } from './judge-view.ts'

/** With what the older part of a chat is replaced: recaps, or summaries by the stand-in. */
export const strategies = ['truncate', 'summarize'] as const
export type Strategy = (typeof strategies)[number]

/** What became of a rule at the requests at which it was asked for. */
export type RuleReport = {
  readonly rule: AskedRule
  readonly asked: number
  readonly held: number
  /** How often what its words refer to stood there, too; null where they refer to nothing. */
  readonly referred: number | null
}

export type WalkReport = {
  readonly rules: readonly RuleReport[]
  readonly requests: number
  /** Requests that were answered with anything but the upstream's reply, and attempts that it refused. */
  readonly failed: number
  readonly refused: number
  /** The last view. */
  readonly view: readonly WireMessage[]
}

/** One chat in one window, by one strategy. */
export type RulesOrder = {
  readonly chat: ChatOrder
  readonly strategy: Strategy
  readonly windowTokens: number
}

export type OrderReport = { readonly order: RulesOrder } & WalkReport

/** Does an order from the making of its chat to the verdicts. */
export async function runOrder(order: RulesOrder): Promise<OrderReport> {
  const { count } = await loadCounter('o200k_base')
  const chat = makeChat(order.chat, count)
  return { order, ...(await walkChat({ ...order, chat, count })) }
}

type WalkOptions = {
  readonly chat: Chat
  readonly strategy: Strategy
  readonly windowTokens: number
  readonly count: (text: string) => number
}

/**
 * Makes every request of a chat, one after the other: each carries all messages up to a user's turn. At the last few it
 * is asked what of the rules stands in the view. A user takes longer to type than a summary to be written: the next
 * request comes once nothing is asked of the stand-in any more.
 */
export async function walkChat({ chat, strategy, windowTokens, count }: WalkOptions): Promise<WalkReport> {
  const { messages, rules } = chat
  const window = { tokens: windowTokens }
  const model = strategy === 'summarize' ? await startSummaryModel() : null
  const stage = await openStage({
    profile: model === null ? { strategy, window } : withCheapSummaries({ window }),
    ...(model !== null && { upstreams: cheapUpstream(model) }),
    windowTokens,
    rules: 'enforced',
    statesUsage: true,
    count,
  })
  const texts = messages.map((message) => JSON.stringify(message))
  const points = messages.flatMap(({ role }, index) => (role === 'user' ? [index + 1] : []))
  const sums = rules.map((rule) => ({ rule, asked: 0, held: 0, referred: rule.refersTo === null ? null : 0 }))
  let [failed, refused] = [0, 0]
  let view: readonly WireMessage[] = []
  try {
    for (const [place, point] of points.entries()) {
      const body = `{"model":"chat-model","messages":[${texts.slice(0, point).join(',')}]}`
      const exchange = await stage.ask(Buffer.from(body), 'Bearer chat')
      await model?.quiet()
      failed += exchange.isReply ? 0 : 1
      refused += refusedIn(exchange)
      if (place < points.length - ASKED_REQUESTS) continue
      view = exchange.received.at(-1)?.messages ?? []
      const judge = openViewJudge(view)
      for (const sum of sums) {
        const { isHeld, isReferred } = judge(sum.rule)
        sum.asked += 1
        if (isHeld) sum.held += 1
        if (sum.referred !== null && isReferred === true) sum.referred += 1
      }
    }
  } finally {
    await stage.close()
    await model?.close()
  }
  return { rules: sums, requests: points.length, failed, refused, view }
}

// --- internal ---

/** At so many of the last requests the words have to stand in the view. */
const ASKED_REQUESTS = 5
