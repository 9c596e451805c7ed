import type { Models } from '../models/models.ts'
import type { ReadRequest } from './request.ts'

// How lessons about a model at its upstream decide on a request.

/** Why nothing is rewritten in a request, whatever its size; null where it may be. */
export function whyUntouched(request: ReadRequest, models: Pick<Models, 'get'>): string | null {
  if (request.profile.observe) return request.isSubscription ? 'subscription' : 'observe'
  if (request.options.compact === 'off') return 'off'
  if (models.get(request.modelKey, 'placement') === 'original') return 'refused-before'
  return null
}

/** Whether user messages that would stand side by side are joined. */
export function isStrict({ profile, modelKey }: ReadRequest, models: Pick<Models, 'get'>): boolean {
  if (profile.template !== 'auto') return profile.template === 'strict'
  return models.get(modelKey, 'placement') === 'strict'
}

/** Whether signed thoughts hold only where they were made: a refusal's word goes before what the model is called. */
export function bindsThoughts(
  { dialect, modelKey }: Pick<ReadRequest, 'dialect' | 'modelKey'>,
  isAnthropic: boolean,
  models: Pick<Models, 'get'>,
): boolean {
  const said = models.get(modelKey, 'thoughts')
  if (said !== null) return said !== 'kept'
  return dialect.bindsThoughts([modelKey.model, models.get(modelKey, 'name') ?? ''], isAnthropic)
}

/** Whether the thoughts of the newest reply stay at a compaction. */
export function keepsNewestThoughts({ modelKey }: ReadRequest, models: Pick<Models, 'get'>): boolean {
  return models.get(modelKey, 'thoughts') === 'newest-kept'
}
