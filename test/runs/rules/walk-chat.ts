import { loadCounter } from '../../../src/tokens/encodings.ts'
import { textsOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import { cheapUpstream, startSummaryModel, withCheapSummaries } from '../../support/summary-model.ts'
import { openStage, refusedIn } from '../harness/stage.ts'
import { makeChat, type AskedRule, type Chat, type ChatOrder } from './chat.ts'

/** With what the older part of a chat is replaced: recaps, or summaries by the stand-in. */
export const strategies = ['truncate', 'summarize'] as const
export type Strategy = (typeof strategies)[number]

export type RuleReport = {
  readonly rule: AskedRule
  readonly asked: number
  readonly held: number
  readonly referred: number | null
}

export type RulesOrder = {
  readonly chat: ChatOrder
  readonly strategy: Strategy
  readonly windowTokens: number
}

export type OrderReport = { readonly order: RulesOrder } & Awaited<ReturnType<typeof walkChat>>

export async function runOrder(order: RulesOrder): Promise<OrderReport> {
  const { count } = await loadCounter('o200k_base')
  const chat = makeChat(order.chat, count)
  return { order, ...(await walkChat({ ...order, chat, count })) }
}

type WalkOptions = Omit<RulesOrder, 'chat'> & {
  readonly chat: Chat
  readonly count: (text: string) => number
}

/**
 * Makes every request of a chat, one after the other: each carries all messages up to a user's turn. At the last few it
 * is asked what of the rules stands in the view. A user takes longer to type than a summary to be written: the next
 * request comes once nothing is asked of the stand-in any more.
 */
export async function walkChat({ chat, strategy, windowTokens, count }: WalkOptions) {
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
  // Requests that were answered with anything but the upstream's reply, and attempts that it refused.
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
  const ruleReports: readonly RuleReport[] = sums
  return { rules: ruleReports, requests: points.length, failed, refused, view }
}

/** What a view still says of a rule. */
export type Verdict = {
  /** The user's words stand in it, and nothing that they replaced stands after them. */
  readonly isHeld: boolean
  /** What they refer to stands in it, too; null where they refer to nothing. */
  readonly isReferred: boolean | null
}

/** Reads a view once for all rules that are asked of it. */
export function openViewJudge(
  view: readonly WireMessage[],
): (rule: Pick<AskedRule, 'says' | 'old' | 'refersTo'>) => Verdict {
  // What stands between two messages is no word: nothing is read across.
  const text = view.flatMap(({ content }) => textsOf(content).map(plainText)).join(BETWEEN)
  return function judge({ says, old, refersTo }) {
    const saidAt = lastPlace(text, says)
    const oldAt = old === null ? NOWHERE : lastPlace(text, old)
    return {
      isHeld: saidAt !== NOWHERE && oldAt < saidAt,
      isReferred: refersTo === null ? null : lastPlace(text, refersTo) !== NOWHERE,
    }
  }
}

/** How often words stand in texts, by the same reading. */
export function timesSaid(texts: readonly string[], words: string): number {
  const text = texts.map(plainText).join(BETWEEN)
  return [...text.matchAll(patternOf(words))].length
}

/** At so many of the last requests the words have to stand in the view. */
const ASKED_REQUESTS = 5
const BETWEEN = ' \u0000 '
const NOWHERE = -1

/** Without case, with one space for any blank, and with the escapes undone by which JSON quotes a text. */
const plainText = (text: string): string =>
  text
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replaceAll(/\\+[nrt]/g, ' ')
    .replaceAll(/\\+(["/])/g, '$1')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')

/** Words from end to end: "option b" does not stand in "option bar". Marks around them may be others. */
function patternOf(words: string): RegExp {
  const bare = plainText(words).replaceAll(/^[\p{P}\p{Z}]+|[\p{P}\p{Z}]+$/gu, '')
  const literal = bare.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])`, 'gu')
}

const lastPlace = (text: string, words: string): number =>
  [...text.matchAll(patternOf(words))].at(-1)?.index ?? NOWHERE
