import type { ReadRequest } from '../request.ts'
import { credentialHeadersOf } from '../../upstream/credential.ts'
import { azureDeployment, keysOfQuery, parseTarget, type Target } from '../../upstream/target.ts'
import type { SummaryPlace } from '../../summaries/summary-call.ts'

/** Where a request's summaries are asked for: where it goes itself, with its own headers, or at an upstream of the operator's. */
export function summaryPlace({ exchange, profile, upstreamName }: ReadRequest): SummaryPlace {
  const { summary } = profile
  const { target, incoming, clientKeyName } = exchange
  const withholdCredential = clientKeyName !== null
  if (summary.upstream === null) {
    return {
      upstream: upstreamName,
      target: summary.model === null ? target : withDeployment(target, summary.model),
      rawHeaders: incoming.rawHeaders,
      withholdCredential,
    }
  }
  // Whether that upstream gets to see the client's credential, its settings decide.
  const keys = keysOfQuery(target.query)
  return {
    upstream: summary.upstream,
    target: { ...parseTarget('/v1/chat/completions'), query: keys === '' ? '' : `?${keys}` },
    rawHeaders: ['user-agent', USER_AGENT, ...credentialHeadersOf(incoming.rawHeaders)],
    withholdCredential,
  }
}

// --- internal ---

const USER_AGENT = 'foldgate-summaries'

/** On Azure the path names the model. */
function withDeployment(target: Target, model: string): Target {
  if (azureDeployment(target.path) === null) return target
  const path = target.path.replace(
    /(\/openai\/deployments\/)[^/]+/,
    (_, before: string) => before + encodeURIComponent(model),
  )
  return { ...target, path }
}
