import type { ServerResponse } from 'node:http'
import { Hono } from 'hono'
import { FoldgateError } from '../../errors.ts'
import { readBody, type ReadBodyOptions } from '../../http/read-body.ts'
import type { Holder } from '../../scheduling/fair-share.ts'
import type { AdminEnvironment } from '../admin-environment.ts'

export type ExplainRouteOptions = {
  readonly bodyLimits: ReadBodyOptions
  /** What would be done with a request body, as JSON. What it throws is answered. */
  readonly explain: (
    body: Buffer,
    asked: { readonly profile: string | null; readonly model: string | null },
  ) => Promise<string>
}

/** `POST /explain`: what would be sent for a request, and why. Nothing is sent, and nothing recorded. */
export function explainRoute({ bodyLimits, explain }: ExplainRouteOptions): Hono<AdminEnvironment> {
  const app = new Hono<AdminEnvironment>()
  app.post('/explain', async (context) => {
    const { req, env } = context
    const { incoming, outgoing } = env
    const body = await readBody({ incoming, outgoing, holder: operatorAt(outgoing) }, bodyLimits)
    try {
      if (body.decoded === null) {
        throw new FoldgateError(
          'malformed_request',
          'The body has a content coding that cannot be read: send it as plain JSON.',
        )
      }
      const profile = req.query('profile') ?? req.header('x-foldgate-profile') ?? null
      const text = await explain(body.decoded, { profile, model: req.query('model') ?? null })
      return context.body(text, 200, { 'content-type': 'application/json' })
    } finally {
      body.release()
    }
  })
  return app
}

// --- internal ---

/** The operator shares with clients: a question is cut off where they have a right to its bytes. */
function operatorAt(outgoing: ServerResponse): Holder {
  return { name: 'operator', isAnswered: () => outgoing.headersSent, giveWay: () => outgoing.destroy() }
}
