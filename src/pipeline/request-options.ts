import type { IncomingHttpHeaders } from 'node:http'
import type { ClientOverride } from '../config/settings.ts'
import { FoldgateError } from '../errors.ts'

/** What a client asks of Foldgate itself, in `x-foldgate-…` request headers. */
export type RequestOptions = {
  /** No rewriting at all, recovery included. */
  readonly bypass: boolean
  /** A profile by name; null: the one that matches. */
  readonly profile: string | null
  /** `force`: a compaction now; `off`: none, with recovery on; the others choose what stands for folded messages. */
  readonly compact: 'force' | 'off' | 'truncate' | 'summarize' | null
  /** A label of the client's own for this conversation. */
  readonly conversation: string | null
}

/**
 * Reads what a client asks for. `allowed` names the overrides that this client may send; null: all of
 * them. Throws `invalid_header` or `override_not_allowed`.
 */
export function readRequestOptions(
  headers: IncomingHttpHeaders,
  allowed: readonly ClientOverride[] | null,
): RequestOptions {
  const read = (name: ClientOverride): string | null => {
    const param = `x-foldgate-${name}`
    const value = headers[param]
    if (value === undefined) return null
    if (allowed !== null && !allowed.includes(name))
      throw new FoldgateError(
        'override_not_allowed',
        `This client key may not send ${param} (client_keys[].overrides in foldgate.yaml).`,
        { param },
      )
    return String(value).trim()
  }
  return {
    bypass: isSet('bypass', read('bypass')),
    profile: read('profile'),
    compact: compactOption(read('compact')),
    conversation: label(read('conversation')),
  }
}

// --- internal ---

const compactValues = ['force', 'off', 'truncate', 'summarize'] as const

/** Labels stand in headers, logs and the page. */
const LABEL_CHARS_MAX = 128

function isSet(name: string, value: string | null): boolean {
  if (value === null || value === '0' || value === 'false' || value === '') return false
  if (value === '1' || value === 'true') return true
  throw invalid(name, 'set it to 1, or leave it out')
}

function compactOption(value: string | null): RequestOptions['compact'] {
  if (value === null) return null
  const option = compactValues.find((known) => known === value.toLowerCase())
  if (option !== undefined) return option
  throw invalid('compact', `set it to one of ${compactValues.join(', ')}`)
}

function label(value: string | null): string | null {
  if (value === null || value === '') return null
  if (value.length <= LABEL_CHARS_MAX) return value
  throw invalid('conversation', `use at most ${LABEL_CHARS_MAX} characters`)
}

function invalid(name: string, advice: string): FoldgateError {
  const param = `x-foldgate-${name}`
  const message = `The header ${param} has a value that means nothing: ${advice}.`
  return new FoldgateError('invalid_header', message, { param })
}
