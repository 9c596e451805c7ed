import { Hono } from 'hono'
import { FoldgateError } from '../../errors.ts'
import type { AdminEnvironment } from '../admin-environment.ts'
import type { ModelCard } from '../models/model-cards.ts'
import { refuseBody } from './answers.ts'

export type ModelRoutesOptions = {
  readonly models: {
    /** What is believed of models, the one used last first. */
    readonly list: () => readonly ModelCard[]
    /** Forgets all that is believed of a model; false where nothing is. */
    readonly forget: (id: string) => boolean
  }
}

/** What is believed of models, and how to have it forgotten. */
export function modelRoutes({ models }: ModelRoutesOptions): Hono<AdminEnvironment> {
  const app = new Hono<AdminEnvironment>()

  app.get('/models', (context) => context.json({ models: models.list() }))
  app.delete('/models/:id', (context) => {
    refuseBody(context.env.incoming)
    if (!models.forget(context.req.param('id'))) throw unknown()
    return context.body(null, 204)
  })
  return app
}

// --- internal ---

function unknown(): FoldgateError {
  return new FoldgateError(
    'unknown_model',
    'Nothing is believed here of a model with this id: it ended by itself, was forgotten, or no request has asked for that model since the start. GET /models lists the ids.',
    { param: 'id' },
  )
}
