import type { Rejection } from './parameter-memory.ts'
import type { Prompt, SummarySettings } from './prompt.ts'

export type LimitName = 'max_tokens' | 'max_completion_tokens'

export type RequestOptions = {
  readonly settings: SummarySettings
  /** Null: the field is left out. */
  readonly model: string | null
  readonly limitName: LimitName
  /** What the output may take at most, by the window; null: not known. */
  readonly outputTokensMax: number | null
  readonly rejections: readonly Rejection[]
}

/** The fields of a request for a summary. */
export function requestFields(prompt: Prompt, options: RequestOptions): Record<string, unknown> {
  const { model, rejections } = options
  return {
    ...(model === null ? {} : { model }),
    messages: messagesOf(prompt, rejections),
    ...ownFields(options),
  }
}

/** Those that say nothing of what is asked: the limit of the answer, and the operator's. */
export function ownFields(options: Omit<RequestOptions, 'model'>): Record<string, unknown> {
  const { settings, rejections } = options
  const own = Object.entries(settings.parameters)
  const isRejected = (name: string): boolean =>
    rejections.some((rejection) => rejection.kind === 'field' && rejection.name === name)
  const limitName = own.some(([name]) => isLimitName(name))
    ? null
    : limitNameOf(options.limitName, isRejected)
  return {
    ...(limitName === null ? {} : { [limitName]: limitTokens(options) }),
    ...Object.fromEntries(own.filter(([name]) => !isRejected(name))),
  }
}

/** Output tokens that a request asks for: the text, and what the model may think before it. */
export function wantedTokens({ max_tokens, reasoning_tokens }: SummarySettings): number {
  return max_tokens + reasoning_tokens
}

// --- internal ---

function messagesOf({ system, user }: Prompt, rejections: readonly Rejection[]): unknown[] {
  if (system === '') return [{ role: 'user', content: user }]
  return rejections.some(({ kind }) => kind === 'system-role')
    ? [{ role: 'user', content: `${system}\n\n${user}` }]
    : [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ]
}

function isLimitName(name: string): name is LimitName {
  return name === 'max_tokens' || name === 'max_completion_tokens'
}

/** The limit's name as the client spells it, else its other name, else none. */
function limitNameOf(preferred: LimitName, isRejected: (name: string) => boolean): LimitName | null {
  const other: LimitName = preferred === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (!isRejected(preferred)) return preferred
  return isRejected(other) ? null : other
}

function limitTokens({ settings, outputTokensMax, rejections }: Omit<RequestOptions, 'model'>): number {
  const isCapped = rejections.some(({ kind }) => kind === 'reasoning-tokens')
  const wanted = isCapped ? settings.max_tokens : wantedTokens(settings)
  return Math.max(1, Math.min(wanted, outputTokensMax ?? wanted))
}
