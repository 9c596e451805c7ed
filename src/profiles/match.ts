import { InvariantError } from '../errors.ts'
import { globWeight, matchesGlob, mostSpecificGlob } from './glob.ts'
import { meantOr } from './near-miss.ts'
import { defaultProfileName } from './resolve.ts'
import type { Profile } from './schema.ts'

export type MatchRequest = {
  /** The model of the request, or the Azure deployment; null if it names none. */
  readonly model: string | null
  /** Request headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The profile that the request asks for by name; null if it asks for none. */
  readonly requested: string | null
}

export type ProfileMatch =
  | {
      readonly kind: 'found'
      readonly profile: Profile
      /** Why this one, for people. */
      readonly why: string
    }
  | {
      readonly kind: 'unknown'
      /** Names what was asked for and what there is. */
      readonly message: string
    }

/**
 * The profile of a request. A name asked for wins. Else the most specific match: one whose `headers` match
 * before one without, then the pattern with the most literal characters, an exact name first, then by name;
 * else `default`.
 */
export function matchProfile(profiles: ReadonlyMap<string, Profile>, request: MatchRequest): ProfileMatch {
  if (request.requested !== null) return findRequested(profiles, request.requested)
  let best: Fit | null = null
  for (const profile of profiles.values()) {
    const { models } = profile
    const headers = Object.entries(profile.headers)
    // Without either a profile is chosen by name only.
    if (models.length === 0 && headers.length === 0) continue
    if (!headers.every(([name, pattern]) => headerMatches(request.headers[name.toLowerCase()], pattern)))
      continue
    const model = models.length === 0 ? null : mostSpecificGlob(models, request.model ?? '')
    if (model === null && models.length > 0) continue
    const fit = {
      profile,
      model,
      figures: [
        Math.min(headers.length, 1),
        model === null ? -1 : globWeight(model),
        headers.length,
        headers.reduce((sum, [, pattern]) => sum + globWeight(pattern), 0),
      ],
    }
    if (best === null || isBetter(fit, best)) best = fit
  }
  if (best !== null) return { kind: 'found', profile: best.profile, why: explain(best) }
  const fallback = profiles.get(defaultProfileName)
  if (fallback === undefined) throw new InvariantError('there is no profile named default')
  return { kind: 'found', profile: fallback, why: 'no other profile matches this model and these headers' }
}

// --- internal ---

/** How well a profile fits: its figures in the order in which they are compared, larger is better. */
type Fit = {
  readonly profile: Profile
  readonly model: string | null
  readonly figures: readonly number[]
}

function findRequested(profiles: ReadonlyMap<string, Profile>, requested: string): ProfileMatch {
  const profile = profiles.get(requested)
  if (profile !== undefined) return { kind: 'found', profile, why: 'asked for by name' }
  const known = [...profiles.keys()].sort().join(', ')
  const advice = meantOr(requested, profiles.keys(), `known profiles: ${known}`)
  // A name from a client is repeated in part only.
  const named = JSON.stringify(requested.length > 64 ? `${requested.slice(0, 64)}…` : requested)
  return { kind: 'unknown', message: `there is no profile ${named}; ${advice}` }
}

function isBetter(fit: Fit, best: Fit): boolean {
  for (const [place, figure] of fit.figures.entries()) {
    const other = best.figures[place] ?? 0
    if (figure !== other) return figure > other
  }
  return fit.profile.name < best.profile.name
}

function headerMatches(value: string | readonly string[] | undefined, pattern: string): boolean {
  if (value === undefined) return false
  const values = typeof value === 'string' ? [value] : value
  return values.some((each) => matchesGlob(pattern, each))
}

function explain({ profile, model }: Fit): string {
  const headers = Object.entries(profile.headers).map(([name, pattern]) => `${name}: ${pattern}`)
  const reasons = []
  if (headers.length > 0) reasons.push(`the headers match "${headers.join(', ')}"`)
  if (model !== null) reasons.push(`the model matches "${model}"`)
  return `${reasons.join(' and ')}, and no other profile matches more specifically`
}
