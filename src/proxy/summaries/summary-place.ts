import { azureDeployment, parseTarget } from '../../upstream/target.ts'
import type { SummaryPlace } from '../../summaries/summary-call.ts'
import type { ChatRequest } from '../request/chat-request.ts'

/** Where a request's summaries are asked for: where it goes itself, with its own headers, or at an upstream of the operator's. */
export function summaryPlace({ exchange, profile, upstreamName }: ChatRequest): SummaryPlace {
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
  return {
    upstream: summary.upstream,
    target: { ...parseTarget('/v1/chat/completions'), query: '' },
    rawHeaders: ['user-agent', USER_AGENT, ...credentialsIn(incoming.rawHeaders)],
    withholdCredential,
  }
}

// --- internal ---

const USER_AGENT = 'foldgate-summaries'

type Target = SummaryPlace['target']

/** On Azure the path names the model. */
function withDeployment(target: Target, model: string): Target {
  if (azureDeployment(target.path) === null) return target
  const path = target.path.replace(
    /(\/openai\/deployments\/)[^/]+/,
    (_, before: string) => before + encodeURIComponent(model),
  )
  return { ...target, path }
}

const credentialNames: ReadonlySet<string> = new Set([
  'authorization',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
])

/** Whether another upstream gets to see them, its settings decide. */
function credentialsIn(rawHeaders: readonly string[]): readonly string[] {
  const taken: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (credentialNames.has(name.toLowerCase())) taken.push(name, rawHeaders[at + 1] ?? '')
  }
  return taken
}
