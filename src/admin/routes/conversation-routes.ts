import { Hono } from 'hono'
import { FoldgateError } from '../../errors.ts'
import { isConversationId, noConversationId } from '../../conversation/conversation-id.ts'
import type { AdminEnvironment } from '../admin-environment.ts'
import type { Conversations } from '../../activity/conversations/conversations.ts'
import { contentSecurityPolicy } from '../page/content-security-policy.ts'
import { conversationPage } from '../page/conversation-page.ts'
import type { PageSetting } from '../page/layout.ts'
import { refuseBody, wantsPage } from './answers.ts'

export type ConversationRoutesOptions = {
  readonly conversations: Conversations
  readonly page: Omit<PageSetting, 'now'> & { readonly now: () => Date }
  /** Deletes what is kept of a conversation. What it throws is answered. */
  readonly deleteConversation: (id: string) => Promise<void>
  /** Has a compaction made at the conversation's next request. */
  readonly compactConversation: (id: string) => Promise<void>
}

/** What there is to see of conversations, and what can be done to them. */
export function conversationRoutes(options: ConversationRoutesOptions): Hono<AdminEnvironment> {
  const { conversations, page } = options
  const app = new Hono<AdminEnvironment>()

  app.get('/conversations', async (context) => context.json({ conversations: await conversations.list() }))
  app.get('/conversations/:id', async (context) => {
    const id = requireId(context.req.param('id'))
    const detail = await conversations.detail(id)
    if (detail === null) throw unknown(id)
    if (!wantsPage(context.env.incoming)) return context.json(detail)
    const { now, ...setting } = page
    context.header('content-security-policy', contentSecurityPolicy)
    return context.html(conversationPage({ ...setting, now: now(), conversation: detail }))
  })
  app.post('/conversations/:id/compact', async (context) => {
    refuseBody(context.env.incoming)
    const id = requireId(context.req.param('id'))
    if (!(await conversations.isKnown(id))) throw unknown(id)
    await options.compactConversation(id)
    return context.json({ conversation: id, compact: 'at its next request' }, 202)
  })
  app.delete('/conversations/:id', async (context) => {
    refuseBody(context.env.incoming)
    await options.deleteConversation(context.req.param('id'))
    return context.body(null, 204)
  })
  return app
}

// --- internal ---

function requireId(id: string): string {
  if (isConversationId(id)) return id
  throw new FoldgateError('invalid_conversation_id', noConversationId, { param: 'id' })
}

function unknown(id: string): FoldgateError {
  return new FoldgateError(
    'unknown_conversation',
    `Nothing is on record of a request of the conversation ${id}: it is too long ago, was deleted, or was never here.`,
    { param: 'id' },
  )
}
