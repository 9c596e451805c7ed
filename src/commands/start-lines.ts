import type { Environment } from '../config/api-keys.ts'
import { flags } from '../config/flags.ts'
import { type Settings } from '../config/settings.ts'
import { holdsCredential } from '../config/settings-rules.ts'
import { isLoopback } from '../config/web-address.ts'
import { addressOf, type ListenAddress, type Listening } from '../server/listeners.ts'
import { nearest } from '../profiles/near-miss.ts'
import { hasSummaries, type Profile } from '../profiles/schema.ts'

export type Started = Listening & {
  readonly version: string
  readonly profiles: ReadonlyMap<string, Profile>
}

/** What Foldgate says when it has started: where it listens, where it forwards to, and who pays for summaries. */
export function startTold(settings: Settings, started: Started) {
  const facts = {
    upstream: settings.upstreams.get('default')?.url ?? '',
    page: pageText(started),
    summaries: whoPaysForSummaries(settings, started.profiles),
  }
  return { message: `Foldgate ${started.version} listens on ${addressOf(started)}/v1`, facts }
}

/** @internal exported for tests. Whether summaries are on, under which profiles, who writes them and with whose key. */
export function whoPaysForSummaries(settings: Settings, profiles: ReadonlyMap<string, Profile>): string {
  const told = [...profiles.values()]
    .filter(hasSummaries)
    .map((profile) => `profile ${profile.name}: ${summariesOf(profile, settings)}`)
  if (told.length === 0) return 'off (recaps are made without a model and cost nothing)'
  const more = told.length - TOLD_MAX
  return `on (${told.slice(0, TOLD_MAX).join('; ')}${more > 0 ? `; ${more} more` : ''})`
}

/** Who writes the summaries of a profile, and with whose key; or that there are none. */
export function summariesOf(profile: Profile, settings: Settings): string {
  if (!hasSummaries(profile)) return 'none: recaps are made without a model and cost nothing'
  return `${writerOf(profile)}, paid with ${keyOf(profile, settings)}`
}

/** The memory that the process may use, in bytes. */
export type Memory = {
  /** The largest heap that V8 lets grow. */
  readonly heapBytes: number
  /** The container's, or the machine's. */
  readonly allBytes: number
}

/**
 * The warnings of a start: about an open listener, about limits that allow for more memory than there is, and about
 * upstreams without a key.
 */
export function startWarnings(settings: Settings, place: ListenAddress, memory: Memory): readonly string[] {
  const lines = [openListener(settings, place), largeLimits(settings, memory)].filter((line) => line !== null)
  return [...lines, ...keylessUpstreams(settings)]
}

/** Upstreams that get no key, although their clients send one: the same at the start and by `foldgate check`. */
export function keylessUpstreams({ upstreams, client_keys }: Settings): readonly string[] {
  // A client key opens Foldgate alone: it is forwarded to nobody.
  const clients = client_keys.length > 0 ? '' : ", forward_client_key: true if it may have the client's"
  return [...upstreams.values()]
    .filter((upstream) => upstream.drops_client_key)
    .map(
      ({ name }) =>
        `the upstream "${name}" gets no key, since the client's goes to the default upstream only: ` +
        `write into upstreams.${name} api_key_env: NAME or api_key_file: FILE${clients}, forward_client_key: false if it needs none`,
    )
}

/**
 * Variables that begin as Foldgate's own do and are none of them, where it is plain what was meant: a line for each, without
 * its value, at the start and by `foldgate check`. Nothing refuses to start for one: others may have set it.
 */
export function strayVariables(env: Environment, settings: Settings): readonly string[] {
  const { upstreams, client_keys, admin, store } = settings
  const keys = [...upstreams.values(), ...client_keys].map(({ key }) => key?.source.variable)
  const used = new Set<string | null | undefined>([...keys, admin.token_env, store.encrypt_key_env])
  const strays = Object.keys(env).filter((name) => name.startsWith('FOLDGATE_') && !used.has(name))
  return strays.sort().flatMap((name) => {
    const meant = ownVariableLike(name)
    return meant === null || meant === name
      ? []
      : [`the variable ${name} is none of Foldgate's: did you mean ${meant}?`]
  })
}

/** What Foldgate says at the signal that ends it. SIGINT is Ctrl-C. */
export function shutdownLine(
  signal: 'SIGTERM' | 'SIGINT',
  running: number,
  { drain }: Pick<Settings, 'drain'>,
): string {
  if (signal === 'SIGTERM') return 'shutting down: running requests are finished first'
  if (running === 0) return 'shutting down: no request is running'
  const requests = running === 1 ? '1 running request' : `${running} running requests`
  return `shutting down: waiting for ${requests}, up to ${drain.timeout_s} s (drain.timeout_s); Ctrl-C again ends at once`
}

// --- internal ---

/** The variable of Foldgate's own that was most likely meant: the prefix, which all share, is not compared. */
function ownVariableLike(name: string): string | null {
  const word = name.replace('FOLDGATE_', '').toLowerCase()
  // How other programs call the address of what they forward to.
  if (/^(?:(?:base_)?url|api_base|backend|target)$/.test(word)) return 'FOLDGATE_UPSTREAM'
  // What Kubernetes sets in every pod for a Service of this name: `FOLDGATE_SERVICE_HOST`, `FOLDGATE_PORT_3653_TCP_ADDR`.
  if (/(?:^|_)(?:service_(?:host|port)|port_\d+)(?:_|$)/.test(word)) return null
  const words = flags.flatMap(({ environment }) => environment?.replace('FOLDGATE_', '').toLowerCase() ?? [])
  const near = nearest(word, words)
  return near === null ? null : `FOLDGATE_${near.toUpperCase()}`
}

function pageText({ admin, adminTrouble }: Listening): string {
  if (adminTrouble !== null) return `none: ${adminTrouble}`
  return admin === null ? 'none (admin.port is 0)' : `${addressOf(admin)}/`
}

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

const MEGABYTE = 1024 * 1024

/** What the program takes beside running requests, in MB of memory and of its heap. */
const PROGRAM_MB = 160
const PROGRAM_HEAP_MB = 64

/** A request takes so many times the bytes of its body. */
const MEMORY_PER_BODY = 4

function openListener({ client_keys, upstreams }: Settings, place: ListenAddress): string | null {
  if (isLoopback(place.host) || client_keys.length > 0) return null
  const upstream = upstreams.get('default')?.url ?? ''
  return (
    `there are no client_keys, and ${addressOf(place)} is not on loopback: whoever reaches it, ` +
    `a web page included, uses ${upstream} as this machine may, under any Host and Origin; keep the port in a network of your own, or set client_keys`
  )
}

function largeLimits({ limits }: Settings, { heapBytes, allBytes }: Memory): string | null {
  const inFlight = Math.max(limits.bytes_in_flight_mb, MEMORY_PER_BODY * limits.body_mb)
  const heapRoom = megabytes(heapBytes) - PROGRAM_HEAP_MB - limits.remembered_mb
  const room = megabytes(allBytes) - PROGRAM_MB - limits.last_bodies_mb - limits.remembered_mb
  if (inFlight <= heapRoom && inFlight <= room) return null
  const [short, has] =
    room < heapRoom
      ? [
          'memory',
          `${megabytes(allBytes)} MB, of which last_bodies_mb and remembered_mb take ${limits.last_bodies_mb + limits.remembered_mb}`,
        ]
      : ['heap', `${megabytes(heapBytes)} MB (--max-old-space-size)`]
  return (
    `limits.bytes_in_flight_mb (${limits.bytes_in_flight_mb}) and limits.body_mb (${limits.body_mb}) allow for more than the ${short} has, ` +
    `${has}, and large bodies may end the process: ${adviceFor(Math.min(heapRoom, room), short)}`
  )
}

function adviceFor(roomMb: number, short: string): string {
  const bodyMb = Math.floor(roomMb / MEMORY_PER_BODY)
  if (bodyMb < 1) return `give it more ${short}`
  return `set them to ${roomMb} and ${bodyMb} at most, or give it more ${short}`
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / MEGABYTE)
}
