import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import { addressOf, type ListenAddress } from '../http/listeners.ts'

/** What the process may take, in bytes. */
export type Memory = {
  /** The largest heap that V8 lets grow. */
  readonly heapBytes: number
  /** The container's, or the machine's. */
  readonly allBytes: number
}

/** What a start warns of: who may use an open listener, and limits that promise more memory than there is. */
export function startWarnings(settings: Settings, place: ListenAddress, memory: Memory): readonly string[] {
  return [openListener(settings, place), largeLimits(settings, memory)].filter((line) => line !== null)
}

// --- internal ---

const MEGABYTE = 1024 * 1024

/** The program without any request, with what it keeps of all of them, in MB of memory and of its heap. */
const PROGRAM_MB = 224
const PROGRAM_HEAP_MB = 96

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
  const heapRoom = megabytes(heapBytes) - PROGRAM_HEAP_MB
  const room = megabytes(allBytes) - PROGRAM_MB - limits.last_bodies_mb
  if (inFlight <= heapRoom && inFlight <= room) return null
  const [short, has] =
    room < heapRoom
      ? ['memory', `${megabytes(allBytes)} MB, of which last_bodies_mb takes ${limits.last_bodies_mb}`]
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
