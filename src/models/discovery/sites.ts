import { lruCache } from '../../caches.ts'
import { rootOf, type UpstreamAddress } from '../../upstream/address.ts'
import { clientCredential, type HeldKeyMark } from '../../upstream/credential.ts'
import { apiBase } from '../../upstream/target.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import type { WindowQuestion } from './ask-json.ts'
import { type Probe, probesFor } from './probes.ts'
import type { Reading } from './reading.ts'

/** A credential at a site, whose figures are nobody else's. */
export type SiteAccess = {
  readonly key: string
  readonly site: Site
  /** Until when the probes are left that it was denied, by name. */
  readonly deniedUntilMs: Map<string, number>
}

/** An upstream under one base path. What kind of server stands there is found out once, for all credentials. */
export type Site = {
  readonly origin: Origin
  readonly probes: readonly Probe[]
  /** What is known of the probes that were asked. */
  readonly worth: Map<Probe, Worth>
  /** The very first run where the server's kind is open, while it lasts. */
  firstRun: Promise<void> | null
}

/** What upstreams of one origin have in common: a server that hangs holds up nobody else. */
type Origin = {
  /** How many runs last or wait for the first one. */
  runsCount: number
  /** Whether somebody waited for it in vain, and it has answered nothing since. */
  isMute: boolean
}

/** Of what use a probe is at a site, so that the server's log is not filled with requests. */
type Worth = {
  isUseful: boolean
  /** Whether what it is worth is only said to credentials that the server knows. */
  isDeniedToSome: boolean
  /** In a row; of a useful probe, the answers in a row that were of no use. */
  failures: number
  askAgainAtMs: number
}

/**
 * Tells as whom, and where, a question's server is asked; null where it is not. A client chooses the credential and a part
 * of the path: neither may make us ask more than a little, and of bases only those that servers have are asked.
 */
export function createSites(
  upstreams: Pick<Upstreams, 'addressOf' | 'seesCredentialOf'>,
  heldKeyMark: HeldKeyMark,
) {
  const origins = new Map<string, Origin>()
  const sites = lruCache<Site>(SITES_MAX)
  const known = lruCache<SiteAccess & { readonly mark: string }>(CREDENTIALS_MAX)

  function siteAt(siteKey: string, origin: string, path: string): Site {
    const before = sites.get(siteKey)
    if (before !== undefined) return before
    const shared = origins.get(origin) ?? { runsCount: 0, isMute: false }
    origins.set(origin, shared)
    const site = { origin: shared, probes: probesFor(origin, path), worth: new Map(), firstRun: null }
    sites.set(siteKey, site)
    return site
  }

  return function accessOf(question: WindowQuestion): SiteAccess | null {
    const address = upstreams.addressOf(question.upstream)
    const base = baseOf(address, question)
    if (base === null || !knownBases.has(base)) return null
    const name = question.upstream ?? 'default'
    // Upstreams at one address may differ in their headers, by which a gateway chooses what stands behind it.
    // Neither a name nor a path has a blank.
    const siteKey = `${name} ${address.path}${base}`
    const site = siteAt(siteKey, address.origin, address.path + base)
    const key = `${siteKey} ${identityOf(question, upstreams)}`
    const before = known.get(key)
    // A held key that takes another's place has its figures, but not what that one was denied.
    const mark = heldKeyMark(name)
    if (before?.site === site && before.mark === mark) return before
    const access = { key, site, mark, deniedUntilMs: new Map<string, number>() }
    known.set(key, access)
    return access
  }
}

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

/** A base that is one of these is asked; `''` is the upstream's own. */
const knownBases: ReadonlySet<string> = new Set(
  ',/v1,/openai,/openai/v1,/api,/api/v0,/api/v1,/inference,/inference/v1,/v1beta/openai'.split(','),
)

/** The upstreams of the settings, each under its own base and some others. */
const SITES_MAX = 1_000

/** Credentials may be many. */
const CREDENTIALS_MAX = 1_000

/** Where the API begins, behind the upstream's own path; null where nothing is to be asked. */
function baseOf(address: UpstreamAddress, { target }: WindowQuestion): string | null {
  const base = apiBase(address, target)
  // A conversation at the server's root is one with the server whose API is at the upstream's path.
  if (base !== null && base === rootOf(address.path)) return ''
  if (base === null || !base.startsWith(address.path)) return null
  // Azure's way of naming the model; servers that understand it say of their models elsewhere.
  const own = base.slice(address.path.length).replace(/\/$/, '')
  return own.replace(/^(?:\/openai)?\/deployments\/[^/]+$/, '')
}

/**
 * The client itself where the upstream sees its credential. Else all clients are one to the server: a digest of
 * what it never sees would have made-up credentials ask anew with the key that Foldgate holds. But the header in which
 * that key travels is the client's choice, and a server may not look for it there.
 */
function identityOf(question: WindowQuestion, upstreams: Pick<Upstreams, 'seesCredentialOf'>): string {
  if (upstreams.seesCredentialOf(question)) return `client ${question.credential}`
  const place = clientCredential(question.rawHeaders, question.target.query)?.place
  return place === undefined || place === 'query' ? 'held authorization' : `held ${place}`
}

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
