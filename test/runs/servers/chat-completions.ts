import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { parsed, SHOWN_CHARS, type Api } from './api.ts'

export const chatCompletions: Api = {
  path: 'chat/completions',
  bodyOf: ({ messages, isStreamed, outputTokens }) => {
    const more = isStreamed ? ',"stream":true,"stream_options":{"include_usage":true}' : ''
    return `"max_tokens":${outputTokens}${more},"messages":[${messages.join(',')}]`
  },
  plainProblem: (text) =>
    finishOf(parsed(text)) === null ? `no answer: ${text.slice(0, SHOWN_CHARS)}` : null,
  streamProblem,
  hasOutput: (part) => {
    const choice = choiceOf(part)
    const said = choice?.['delta'] ?? choice?.['message']
    return isObject(said) && typeof said['content'] === 'string' && said['content'] !== ''
  },
  promptFigures: (part) => {
    if (!isObject(part) || !isObject(part['usage'])) return null
    const { usage, timings } = part
    const tokens = Number(usage['prompt_tokens'])
    return { tokens, evaluatedTokens: isObject(timings) ? Number(timings['prompt_n']) : null }
  },
}

// --- internal ---

/** A stream finishes, ends with `[DONE]`, and has nothing between the two but the usage that was asked for. */
function streamProblem(parts: readonly unknown[], text: string): string | null {
  const failed = parts.find((part) => isObject(part) && 'error' in part)
  if (failed !== undefined) return `an error in the stream: ${JSON.stringify(failed).slice(0, SHOWN_CHARS)}`
  const finished = parts.findIndex((part) => finishOf(part) !== null)
  if (finished === -1) return `a stream without an end: ${text.slice(-SHOWN_CHARS)}`
  if (!text.trimEnd().endsWith('data: [DONE]')) return `no [DONE]: ${text.slice(-SHOWN_CHARS)}`
  const after = parts.slice(finished + 1).find((part) => !isUsageAlone(part))
  return after === undefined ? null : `after the finish: ${JSON.stringify(after).slice(0, SHOWN_CHARS)}`
}

function choiceOf(part: unknown): Record<string, unknown> | null {
  if (!isObject(part) || !Array.isArray(part['choices'])) return null
  const choice: unknown = part['choices'][0]
  return isObject(choice) ? choice : null
}

function finishOf(part: unknown): string | null {
  const finish = choiceOf(part)?.['finish_reason']
  return typeof finish === 'string' && finish !== '' ? finish : null
}

function isUsageAlone(part: unknown): boolean {
  return isObject(part) && isObject(part['usage']) && choiceOf(part) === null
}
