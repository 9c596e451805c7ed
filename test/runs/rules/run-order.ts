import { loadCounter } from '../../../src/tokens/encodings.ts'
import { makeChat, type ChatOrder } from './chat.ts'
import { walkChat, type Strategy, type WalkReport } from './walk-chat.ts'

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
  const { strategy, windowTokens } = order
  const chat = makeChat(order.chat, count)
  return { order, ...(await walkChat({ chat, strategy, windowTokens, count })) }
}
