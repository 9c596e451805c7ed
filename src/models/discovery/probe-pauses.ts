import type { Probe } from './probes.ts'
import type { Reading } from './reading.ts'
import type { Site, SiteAccess, Worth } from './sites.ts'

/** The probes to ask now; `isForced` asks those again that failed lately. */
export function dueProbes({ site, deniedUntilMs }: SiteAccess, nowMs: number, isForced: boolean) {
  const { probes, worth } = site
  const isKnown = probes.some((probe) => worth.get(probe)?.isUseful === true)
  return probes.filter((probe) => {
    if ((deniedUntilMs.get(probe.name) ?? 0) > nowMs) return false
    const known = worth.get(probe)
    if (known === undefined || known.isDeniedToSome) return !isKnown
    if (known.isUseful || (isForced && known.failures > 0)) return true
    return known.askAgainAtMs <= nowMs && (known.failures > 0 || !isKnown)
  })
}

/** To be told before probes are asked: nobody else asks them meanwhile, but those of use. */
export function noteAsked({ worth }: Site, probes: readonly Probe[], nowMs: number): void {
  for (const probe of probes) worthOf(worth, probe).askAgainAtMs = nowMs + FAILURE_PAUSE_MS
}

/** Takes what a probe has turned out to be of use for. */
export function noteUse(
  { site, deniedUntilMs }: SiteAccess,
  probe: Probe,
  use: Reading['use'],
  nowMs: number,
): void {
  const known = worthOf(site.worth, probe)
  known.isDeniedToSome = use === 'denied' && !known.isUseful
  if (use === 'denied') deniedUntilMs.set(probe.name, nowMs + DENIED_PAUSE_MS)
  else if (use === 'useful') Object.assign(known, { isUseful: true, failures: 0 })
  else if (!known.isUseful) {
    known.failures = use === 'useless' ? 0 : known.failures + 1
    known.askAgainAtMs = nowMs + pauseMs(known.failures)
  } else if (use === 'useless' && ++known.failures >= USELESS_ANSWERS_MAX) {
    // It was of use once: those answers may all have been about models that clients made up.
    const askAgainAtMs = nowMs + FAILURE_PAUSE_MS
    Object.assign(known, { isUseful: false, failures: 1, askAgainAtMs })
    const all = [...site.worth.values()]
    // The server became another one: it is looked at anew before long.
    if (!all.some(({ isUseful }) => isUseful))
      for (const each of all) each.askAgainAtMs = Math.min(each.askAgainAtMs, askAgainAtMs)
  }
}

// --- internal ---

/** How soon a probe that failed is asked again, doubled with each failure, in milliseconds. */
const FAILURE_PAUSE_MS = 60_000

/** How soon one is that a credential was denied: a key may be given its rights while it is in use. */
const DENIED_PAUSE_MS = 120_000

/** How long a server is not asked what it does not have: it would have to become another server. */
const USELESS_PAUSE_MS = 6 * 3_600_000

/** A single answer without use may be about a model that the server does not have. */
const USELESS_ANSWERS_MAX = 3

function worthOf(worth: Site['worth'], probe: Probe): Worth {
  const known = worth.get(probe) ?? { isUseful: false, isDeniedToSome: false, failures: 0, askAgainAtMs: 0 }
  worth.set(probe, known)
  return known
}

function pauseMs(failures: number): number {
  return failures === 0
    ? USELESS_PAUSE_MS
    : Math.min(FAILURE_PAUSE_MS * 2 ** (failures - 1), USELESS_PAUSE_MS)
}
