import { LRUCache } from 'lru-cache'
import type { UpstreamAddress } from '../../upstream/address.ts'
import { clientCredential } from '../../upstream/credential.ts'
import type { HeldKeyMark } from '../../upstream/held-key-marks.ts'
import { chatBase } from '../../upstream/target.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import { createDenials, type Denials } from './denials.ts'
import { probesFor } from './plan.ts'
import { createProbeMemory, type ProbeMemory } from './probe-memory.ts'
import type { WindowQuestion } from './window-question.ts'

/** One credential at a site: whose figures are whose. */
export type Account = {
  readonly key: string
  readonly site: Site
  readonly denials: Denials
}

/** An upstream under one base path. What kind of server stands there is found out once, for all credentials. */
export type Site = {
  readonly origin: Origin
  readonly memory: ProbeMemory
  /** Whether the server's kind is open, so that there is more than one thing to ask. */
  readonly isOfUnknownKind: boolean
  /** The very first run where that is so, while it lasts. */
  firstRun: Promise<void> | null
}

/** What upstreams of one origin have in common: a server that hangs holds up nobody else. */
export type Origin = {
  /** How many runs last or wait for the first one. */
  runsCount: number
  /** Whether somebody waited for it in vain, and it has answered nothing since. */
  isMute: boolean
  /** Bases that only a client came up with, and when each first was. */
  readonly clientsBases: Map<string, number>
}

/**
 * Tells as whom, and where, a question's server is asked; null where it is not. A client chooses the credential and
 * a part of the path: neither may make us ask more than a little.
 */
export function createAccounts({
  upstreams,
  nowMs,
  heldKeyMark,
}: {
  readonly upstreams: Pick<Upstreams, 'addressOf' | 'seesCredentialOf'>
  readonly nowMs: () => number
  readonly heldKeyMark: HeldKeyMark
}): (question: WindowQuestion) => Account | null {
  const origins = new Map<string, Origin>()
  const sites = new LRUCache<string, Site>({ max: SITES_MAX })
  const accounts = new LRUCache<string, Account & { readonly mark: string }>({ max: ACCOUNTS_MAX })

  function originOf(name: string): Origin {
    const origin = origins.get(name) ?? { runsCount: 0, isMute: false, clientsBases: new Map() }
    origins.set(name, origin)
    return origin
  }

  return function accountOf(question) {
    const address = upstreams.addressOf(question.upstream)
    const base = baseOf(address, question)
    if (base === null) return null
    const origin = originOf(address.origin)
    const path = address.path + base
    const isClients = !knownBases.has(base)
    if (isClients && !isAdmitted(origin.clientsBases, path, nowMs())) return null
    // Upstreams at one address may differ in their headers, by which a gateway chooses what stands behind it.
    const siteKey = JSON.stringify([question.upstream ?? 'default', path])
    let site = sites.get(siteKey)
    if (site === undefined) {
      const probes = probesFor(address.origin, path, isClients)
      const memory = createProbeMemory(probes)
      site = { origin, memory, isOfUnknownKind: probes.length > 1, firstRun: null }
      sites.set(siteKey, site)
    }
    const key = JSON.stringify([siteKey, identityOf(question, upstreams)])
    const known = accounts.get(key)
    // A held key that takes another's place has its figures, but not what that one was denied.
    const mark = heldKeyMark(question.upstream ?? 'default')
    if (known?.site === site && known.mark === mark) return known
    const account = { key, site, mark, denials: createDenials() }
    accounts.set(key, account)
    return account
  }
}

// --- internal ---

/** A base that is one of these is asked everything; `''` is the upstream's own. */
const knownBases: ReadonlySet<string> = new Set([
  '',
  '/v1',
  '/openai',
  '/openai/v1',
  '/api',
  '/api/v0',
  '/api/v1',
  '/inference',
  '/inference/v1',
  '/v1beta/openai',
])

/** Bases of a client's own making at one origin, each of which is asked for its list. */
const CLIENTS_BASES_MAX = 16

/** How soon one of them makes room for another. */
const CLIENTS_BASE_LIFE_MS = 3_600_000

/** Longer paths are no API's. */
const BASE_CHARS_MAX = 512

/** The upstreams of the settings, each under its own base and some others. */
const SITES_MAX = 1_000

/** Credentials may be many. */
const ACCOUNTS_MAX = 1_000

/** Where the API begins, behind the upstream's own path; null where nothing is to be asked. */
function baseOf(address: UpstreamAddress, { target }: WindowQuestion): string | null {
  const base = chatBase(address, target)
  if (base === null || base.length > BASE_CHARS_MAX || !base.startsWith(address.path)) return null
  const own = base
    .slice(address.path.length)
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/$/, '')
  // Azure's way of naming the model; servers that understand it say of their models elsewhere.
  return own.replace(/^(?:\/openai)?\/deployments\/[^/]+$/, '')
}

function isAdmitted(bases: Map<string, number>, base: string, nowMs: number): boolean {
  if (bases.has(base)) return true
  if (bases.size >= CLIENTS_BASES_MAX) {
    const [oldest, admittedAtMs] = bases.entries().next().value ?? ['', nowMs]
    if (nowMs - admittedAtMs < CLIENTS_BASE_LIFE_MS) return false
    bases.delete(oldest)
  }
  bases.set(base, nowMs)
  return true
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
