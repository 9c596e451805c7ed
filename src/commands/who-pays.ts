import type { Profile } from '../profiles/schema.ts'
import { hasSummaries } from '../profiles/summaries.ts'
import type { Settings } from '../config/settings.ts'
import { holdsCredential } from '../config/settings-rules.ts'

/** Whether summaries are on, under which profiles, who writes them and with whose key: for the line at the start. */
export function whoPaysForSummaries(settings: Settings, profiles: ReadonlyMap<string, Profile>): string {
  const told = [...profiles.values()]
    .filter(hasSummaries)
    .map((profile) => `profile ${profile.name}: ${summariesOf(profile, settings)}`)
  if (told.length === 0) return 'summaries are off (recaps are made without a model and cost nothing)'
  const more = told.length - TOLD_MAX
  return `summaries are on (${told.slice(0, TOLD_MAX).join('; ')}${more > 0 ? `; ${more} more` : ''})`
}

/** Who writes the summaries of a profile, and with whose key; that there are none, else. */
export function summariesOf(profile: Profile, settings: Settings): string {
  if (!hasSummaries(profile)) return 'none: recaps are made without a model and cost nothing'
  return `${writerOf(profile)}, paid with ${keyOf(profile, settings)}`
}

// --- internal ---

const TOLD_MAX = 3

function writerOf({ summary }: Profile): string {
  const model = summary.model ?? "the request's own model"
  return summary.upstream === null ? model : `${model} at ${summary.upstream}`
}

function keyOf({ summary, upstream }: Profile, { upstreams }: Settings): string {
  const name = summary.upstream ?? upstream ?? 'default'
  const found = upstreams.get(name)
  if (found?.key != null || holdsCredential(found?.headers ?? {})) return `Foldgate's key for ${name}`
  return found?.forward_client_key === true ? "the client's key" : 'no key'
}
