import { Hono } from 'hono'
import type { AdminEnvironment } from '../admin-environment.ts'
import type { Conversations } from '../../activity/conversations/conversations.ts'
import type { Journal } from '../../activity/journal/journal.ts'
import { pageAssets } from '../page/assets.ts'
import { contentSecurityPolicy } from '../page/content-security-policy.ts'
import { homePage } from '../page/home-page.ts'
import type { PageSetting } from '../page/layout.ts'
import type { ModelRoutesOptions } from './model-routes.ts'

export type PageRoutesOptions = {
  readonly conversations: Conversations
  readonly models: Pick<ModelRoutesOptions['models'], 'list'>
  readonly journal: Pick<Journal, 'events'>
  readonly page: Omit<PageSetting, 'now'> & {
    readonly hasPrices: boolean
    /** The base URL that clients are given. */
    readonly clientUrl: () => string
    readonly now: () => Date
  }
}

/** The page at `/`, and what pages load. */
export function pageRoutes({
  conversations,
  models,
  journal,
  page,
}: PageRoutesOptions): Hono<AdminEnvironment> {
  const app = new Hono<AdminEnvironment>()

  app.get('/', async (context) => {
    const { now, clientUrl, ...setting } = page
    const [cards, events] = await Promise.all([
      conversations.list(),
      journal.events({ limit: EVENTS_SHOWN, before: null, conversation: null, type: null }),
    ])
    context.header('content-security-policy', contentSecurityPolicy)
    return context.html(
      homePage({
        ...setting,
        now: now(),
        clientUrl: clientUrl(),
        totals: conversations.totals(),
        conversations: cards.slice(0, CONVERSATIONS_SHOWN),
        models: models.list(),
        events,
      }),
    )
  })
  app.get('/assets/:name', (context, next) => {
    const asset = pageAssets().get(context.req.path)
    return asset === undefined ? next() : context.body(asset.body, 200, { 'content-type': asset.type })
  })
  return app
}

// --- internal ---

const CONVERSATIONS_SHOWN = 100
const EVENTS_SHOWN = 50
