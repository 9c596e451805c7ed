import type { Dialect } from '../formats/contract.ts'
import { dialects } from '../formats/formats.ts'
import { FoldgateError } from '../errors.ts'
import { isRootPath, rootOf, type UpstreamAddress } from './address.ts'

/** Where a request wants to go, as the client wrote it: nothing in here was decoded or resolved. */
export type Target = {
  /** The upstream that `/u/NAME/` chose; null for the default. */
  readonly upstreamName: string | null
  /** The path behind `/u/NAME`, beginning with a slash. */
  readonly path: string
  /** The query with its question mark, or an empty string. */
  readonly query: string
}

/**
 * Reads a request target. Only origin-form is taken, without dot segments in any spelling, so that a path
 * can be joined to the upstream's as bytes and still means what it says there. Everything else throws
 * `path_not_allowed`.
 */
export function parseTarget(requestTarget: string): Target {
  if (!requestTarget.startsWith('/')) {
    throw notAllowed('it is no path. Foldgate takes its upstream from the settings, never from the request')
  }
  if (requestTarget.startsWith('//')) throw notAllowed('it begins with two slashes')
  if (unsafeCharacter.test(requestTarget)) throw notAllowed('it holds a blank or a control character')
  if (requestTarget.includes('#')) throw notAllowed('it holds a fragment')

  const question = requestTarget.indexOf('?')
  const wholePath = question === -1 ? requestTarget : requestTarget.slice(0, question)
  const query = question === -1 ? '' : requestTarget.slice(question)
  if (wholePath.includes('\\')) throw notAllowed('it holds a backslash')
  if ((wholePath.includes('.') || wholePath.includes('%')) && hasDotSegment(wholePath))
    throw notAllowed('it holds a dot segment')

  const named = /^\/u\/([^/]+)(.*)$/.exec(wholePath)
  if (named === null) return { upstreamName: null, path: wholePath, query }
  const path = named[2] === undefined || named[2] === '' ? '/' : named[2]
  if (path.startsWith('//')) throw notAllowed('it begins with two slashes')
  return { upstreamName: named[1] ?? null, path, query }
}

/**
 * The path that the upstream is asked for. The client's leading `/v1` stands for the upstream
 * URL's own path; any other path is appended to it, unless servers serve it at their root and the URL says where
 * that is.
 */
export function pathAtUpstream(address: UpstreamAddress, { path }: Target): string {
  let joined = address.path + path
  if (path === '/v1' || path.startsWith('/v1/')) joined = address.path + path.slice(3)
  else if (isRootPath(path)) {
    const root = rootOf(address.path)
    // `/api/tags` for `https://host/api/v1`: the client named what is before the version itself.
    if (root !== null) joined = root !== '' && `${path}/`.startsWith(`${root}/`) ? path : root + path
  }
  // `//host/…` reads as another host to whoever resolves it; it can only come from `/v1//host`.
  if (joined.startsWith('//')) throw notAllowed('it begins with two slashes')
  return joined === '' ? '/' : joined
}

/**
 * Where the API begins at the upstream that a conversation is posted to: its path there without the end that names the
 * dialect, empty for the root. Null for any other target.
 */
export function apiBase(address: UpstreamAddress, target: Target): string | null {
  // What leads to another host is refused when it is sent.
  if (address.path === '' && target.path.startsWith('/v1//')) return null
  const path = barePath(pathAtUpstream(address, target))
  const end = conversationEnds.find((each) => path.endsWith(each))
  return end === undefined ? null : path.slice(0, -end.length)
}

/** The target of a conversation with the path at which this dialect asks a model, whatever its own end asks for. */
export function askingTarget(target: Target, { paths }: Pick<Dialect, 'paths'>): Target {
  const path = barePath(target.path)
  const end = conversationEnds.find((each) => path.endsWith(each))
  return end === undefined ? target : { ...target, path: `${path.slice(0, -end.length)}/${paths[0]}` }
}

/**
 * The query without its `key=` parameter, the one place where a credential travels in an address. Every
 * other byte stays.
 */
export function queryWithoutKey(query: string): string {
  if (query === '') return query
  const pairs = query.slice(1).split('&')
  const kept = pairs.filter((pair) => !isKey(pair))
  if (kept.length === pairs.length) return query
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/** The `key=` parameters of a query, joined as they came; empty where it has none. */
export function keysOfQuery(query: string): string {
  return query.slice(1).split('&').filter(isKey).join('&')
}

/** The deployment that an Azure path names, decoded; null where the path names none. */
export function azureDeployment(path: string): string | null {
  const found = /\/openai\/deployments\/([^/?]+)\//.exec(path)?.[1]
  if (found === undefined) return null
  try {
    return decodeURIComponent(found)
  } catch {
    return found
  }
}

/** The target at which a model is asked in a dialect, at any upstream: its path at the server's root, or behind the version. */
export function modelTarget({ paths }: Pick<Dialect, 'paths'>): Target {
  const path = `/${paths[0]}`
  return parseTarget(isRootPath(path) ? path : `/v1${path}`)
}

/** APIs that generate from conversations which Foldgate relays as they are. */
export type UncompactedPath = '/completions'

/** A path without its query and the slashes at its end. */
export function barePath(path: string): string {
  const question = path.indexOf('?')
  let end = question === -1 ? path.length : question
  // No pattern: `/\/+$/` begins anew at each slash of a run that ends elsewhere, and anybody may send a run of 60,000.
  while (end > 0 && path.charCodeAt(end - 1) === slash) end -= 1
  return path.slice(0, end)
}

/**
 * Longer names are no models'. They stand in caches, logs and questions to servers, which must not grow by what a
 * client or a server makes up.
 */
export const MODEL_NAME_CHARS_MAX = 256

// --- internal ---

/** The ends of the paths to which conversations are posted, the longer ones first: one may end with another. */
const conversationEnds: readonly string[] = dialects
  .flatMap(({ paths }) => paths.map((path) => `/${path}`))
  .sort((one, other) => other.length - one.length)

/** How often a path is decoded to look for dot segments: escapes of escapes, three deep. */
const decodingPassesMax = 4

const slash = 0x2f

/** Blanks and control characters, which would end the request line or a header early. */
// oxlint-disable-next-line no-control-regex
const unsafeCharacter = /[\u0000-\u0020\u007f]/

function isKey(pair: string): boolean {
  return new URLSearchParams(pair.toLowerCase()).has('key')
}

function hasDotSegment(path: string): boolean {
  // Servers decode before they resolve, some of them twice; `..;` is how servlet containers hide a segment.
  let decoded = path
  for (let pass = 0; pass < decodingPassesMax; pass += 1) {
    if (decoded.split(/[/\\]/).some((segment) => /^\.{1,2}(?:;|$)/.test(segment))) return true
    if (!decoded.includes('%')) return false
    decoded = unescaped(decoded)
  }
  return false
}

function unescaped(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function notAllowed(why: string): FoldgateError {
  return new FoldgateError('path_not_allowed', `The request's path was not relayed: ${why}.`)
}
