import type { ModelKey } from './model-key.ts'
import type { Models } from './models.ts'

/** Whether a model may be offered the tool of `recall`: some refuse it always, some beside a schema for the answer. */
export function mayOfferRecall(models: Pick<Models, 'get'>, key: ModelKey, besideSchema: boolean): boolean {
  const refused = models.get(key, 'recall')
  return refused !== 'any' && refused !== kindOf(besideSchema)
}

/** A request was refused with the tool, and accepted without it. */
export function noteRecallRefused(models: Models, key: ModelKey, besideSchema: boolean): void {
  const known = models.get(key, 'recall')
  const kind = kindOf(besideSchema)
  models.set(key, 'recall', known === null || known === kind ? kind : 'any', 'refusal')
}

// --- internal ---

function kindOf(besideSchema: boolean): 'plain' | 'with-schema' {
  return besideSchema ? 'with-schema' : 'plain'
}
