import { afterEach } from 'vitest'
import { isObject } from '../strict-upstream/wire-message.ts'
import {
  startMessagesUpstream,
  type MessagesUpstream,
  type MessagesUpstreamOptions,
} from './messages-upstream.ts'

const running: MessagesUpstream[] = []
afterEach(async () => {
  for (const upstream of running.splice(0)) await upstream.close()
})

/** An upstream with a token a character, so that every number can be worked out by hand, and what asks it. */
export async function startAsking(options: Partial<MessagesUpstreamOptions> = {}) {
  const upstream = await startMessagesUpstream({
    windowTokens: 1000,
    outputReserveChecked: false,
    count: (text) => text.length,
    reply: () => ({ content: [{ type: 'text', text: 'Good day to you.' }] }),
    ...options,
  })
  running.push(upstream)
  async function ask(body: object, headers: object = {}, path = '/messages') {
    const response = await fetch(`${upstream.url}${path}`, {
      method: 'POST',
      headers: { 'anthropic-version': '2023-06-01', 'x-api-key': 'key', ...headers },
      body: JSON.stringify({ model: 'm', max_tokens: 100, ...body }),
    })
    const text = await response.text()
    return { status: response.status, text, error: errorOf(text) }
  }
  return { upstream, ask }
}

function errorOf(text: string): string | null {
  if (!text.startsWith('{')) return null
  const body: unknown = JSON.parse(text)
  const error = isObject(body) ? body['error'] : null
  return isObject(error) ? String(error['message']) : null
}
