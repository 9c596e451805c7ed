import type { Environment } from '../../config/api-keys.ts'
import type { ConfiguredUpstream, Settings } from '../../config/settings.ts'
import { isJsonObject, parseJsonText } from '../../json/json-value.ts'
import { isRefusedConnection } from '../../upstream/failure.ts'
import { openUpstreams, type Upstreams } from '../../upstream/upstreams.ts'
import { proxiesFrom } from '../../upstream/pools.ts'
import { rootOf } from '../../upstream/address.ts'
import { answerText } from '../../upstream/answer-body.ts'
import { questionHeaders } from './ask-json.ts'
import { readModelList } from './model-list.ts'

/**
 * Looks at the addresses of all upstreams, in the background of a start, and tells what is wrong with them. Ends with
 * `signal`, and after a few seconds in any case. Never rejects.
 */
export async function tellUpstreamTroubles(
  settings: Settings,
  env: Environment,
  tell: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const upstreams = openUpstreams(settings, proxiesFrom(env))
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIME_BOX_MS)])
  try {
    await Promise.all(
      [...settings.upstreams.values()].slice(0, UPSTREAMS_MAX).map(async (upstream) => {
        const trouble = await upstreamTrouble(upstreams, upstream, bounded)
        if (trouble !== null && !signal.aborted) tell(trouble)
      }),
    )
  } finally {
    await upstreams.destroy()
  }
}

// --- internal ---

/** How long all of it may take, in milliseconds. */
const TIME_BOX_MS = 5_000

/** More of them belong to a gateway, which is looked after in other ways. */
const UPSTREAMS_MAX = 20

type AskedUpstreams = Pick<Upstreams, 'ask' | 'addressOf'>

/**
 * What a start finds out about an upstream's address, as a line for the log: that the server answers under `/v1` only,
 * which the address leaves out, or that nothing listens there. Null where nothing is wrong, or nothing can be told: a
 * server elsewhere whose address has its version is not asked at all. At most two small requests, with the key that
 * Foldgate holds for it, if any.
 */
async function upstreamTrouble(
  upstreams: AskedUpstreams,
  { name, set_by: setBy }: ConfiguredUpstream,
  signal: AbortSignal,
): Promise<string | null> {
  const { display, path, loopback } = upstreams.addressOf(name)
  const hasVersion = rootOf(path) !== null
  if (hasVersion && !loopback) return null
  const here = await listAt(upstreams, name, `${path}/models`, signal)
  if (here === 'nobody')
    return `nothing listens at ${display}, the upstream "${name}": start the server, or name another address (${setBy})`
  if (hasVersion || here !== 'nothing') return null
  const below = await listAt(upstreams, name, `${path}/v1/models`, signal)
  if (below !== 'list' && below !== 'locked') return null
  const told = below === 'list' ? 'is there' : 'wants a key'
  return (
    `the upstream "${name}" answers under /v1 only: ${display}/models is not there, and ${display}/v1/models ${told}: ` +
    `write ${display}/v1 (${setBy})`
  )
}

/**
 * What answers at a path: a `list` of models, one that is `locked`, `nothing` of the kind, `nobody` at all, or `unknown`: nothing to
 * go by.
 */
async function listAt(upstreams: AskedUpstreams, upstream: string, path: string, signal: AbortSignal) {
  try {
    const answer = await upstreams.ask({
      upstream,
      method: 'GET',
      path,
      query: '',
      rawHeaders: questionHeaders,
      withholdCredential: true,
      keyPlace: null,
      body: null,
      signal,
    })
    if (answer.status !== 200) answer.body.destroy()
    if (answer.status === 401 || answer.status === 403) return 'locked'
    if (answer.status === 404 || answer.status === 405) return 'nothing'
    if (answer.status !== 200) return 'unknown'
    const text = await answerText(answer)
    // What is larger is a list, too: of a gateway with very many models.
    if (text === null) return 'list'
    const value = parseJsonText(text)
    if (readModelList(value) !== null) return 'list'
    // Some servers answer every path with 200: with their page, or with an error in its body.
    const isOther = text.trimStart().startsWith('<') || (isJsonObject(value) && value['error'] !== undefined)
    return isOther ? 'nothing' : 'unknown'
  } catch (error) {
    // Aborted, too slow or broken off: the client's own requests will show what it is.
    return isRefusedConnection(error) ? 'nobody' : 'unknown'
  }
}
