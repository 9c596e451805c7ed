import { expect, onTestFinished } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../../src/json/json-value.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'
import {
  startResponsesUpstream,
  type AcceptedResponsesRequest,
  type ResponsesUpstream,
  type ResponsesUpstreamOptions,
} from '../../support/responses/responses-upstream.ts'
import type { ResponsesScript } from '../../support/responses/script.ts'
import { wordCount, type Answered } from '../messages/stand.ts'

export type Item = JsonObject

export type ResponsesStand = { readonly upstream: ResponsesUpstream; readonly foldgate: RunningFoldgate }

export type StandOptions = Partial<ResponsesUpstreamOptions> & {
  readonly windowTokens: number
  readonly reply: (request: AcceptedResponsesRequest) => ResponsesScript | Promise<ResponsesScript>
  readonly profile?: object
  readonly foldgate?: Pick<FoldgateOptions, 'settings' | 'flags'>
  /** Whether the test changes by itself what stands before reasoning; if not, reasoning that is removed for it fails the test. */
  readonly changesPrefix?: boolean
}

/** Fails where reasoning was removed since what stands before it had changed. */
function expectPrefixes({ requests }: ResponsesUpstream): void {
  const removed = requests.flatMap((request) => request.removed)
  const lost = removed.filter(({ reason }) => reason === 'prefix_mismatch').map(({ id }) => id)
  if (lost.length > 0) throw new Error(`The upstream left out ${lost.join(', ')}: their prefix had changed.`)
}

/** A strict upstream of the Responses API with a Foldgate in front; both are closed behind the test. */
export async function openStand({
  windowTokens,
  profile,
  foldgate: more,
  changesPrefix = false,
  ...options
}: StandOptions): Promise<ResponsesStand> {
  const upstream = await startResponsesUpstream({
    windowTokens,
    outputReserveChecked: false,
    count: wordCount,
    ...options,
  })
  onTestFinished(async () => {
    await upstream.close()
    if (!changesPrefix) expectPrefixes(upstream)
  })
  return openBefore(upstream, { window: { tokens: windowTokens }, target: 0.7, ...profile }, more)
}

/** One more Foldgate, with a store of its own, in front of an upstream; it is closed behind the test. */
export async function openBefore(
  upstream: ResponsesUpstream,
  profile: object,
  more: StandOptions['foldgate'] = {},
): Promise<ResponsesStand> {
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, ...more })
  onTestFinished(foldgate.close)
  return { upstream, foldgate }
}

export async function post(
  { foldgate }: ResponsesStand,
  body: object,
  path = '/responses',
): Promise<Answered> {
  const response = await fetch(`${foldgate.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify({ model: 'gpt-5.1', store: false, ...body }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export function outputOf({ text }: Answered): Item[] {
  const last = text.startsWith('{') ? parseJsonText(text) : eventsOf(text).at(-1)?.['response']
  const output = isJsonObject(last) ? last['output'] : null
  return Array.isArray(output) ? output.filter(isJsonObject) : []
}

const eventsOf = (text: string): Item[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => parseJsonText(line.slice('data: '.length)))
    .filter(isJsonObject)

export const user = (text: string): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})

export const readTool = {
  type: 'function',
  name: 'read',
  parameters: { type: 'object', properties: {} },
  strict: false,
}

/** More than a third of its rounds it says itself, in its calls: to clear results is not always enough to make room. */
export function thinkingReader(): StandOptions['reply'] {
  let called = 0
  const reason = 'the lazy dog jumps over the quick brown fox '.repeat(20)
  return () => ({
    output: [
      { type: 'reasoning', tokens: 60 },
      { type: 'message', text: `I read part ${called}.`, phase: 'commentary' },
      {
        type: 'function_call',
        callId: `call_${(called += 1)}`,
        name: 'read',
        arguments: JSON.stringify({ part: called, reason }),
      },
    ],
  })
}

/**
 * What a client that keeps its own history does: it sends all of it each time, and takes over what it is answered. All that is
 * said stands behind `input` then.
 */
export async function live(
  stand: ResponsesStand,
  input: Item[],
  { rounds, ...body }: { readonly rounds: number; readonly [field: string]: unknown },
): Promise<Answered[]> {
  const answers: Answered[] = []
  for (let round = 0; round < rounds; round += 1) {
    const include = ['reasoning.encrypted_content']
    const answer = await post(stand, { input, tools: [readTool], include, ...body })
    expect(answer.status).toBe(200)
    answers.push(answer)
    for (const item of outputOf(answer)) {
      input.push(item)
      if (item['type'] !== 'function_call') continue
      const output = `part ${round}: ${'the quick brown fox jumps over the lazy dog again '.repeat(40)}`
      input.push({ type: 'function_call_output', call_id: item['call_id'], output })
    }
  }
  return answers
}

/**
 * Rounds of an agent without reasoning, of some 620 words each. More than a third of them the agent says itself, in its call:
 * to clear results is not enough where many rounds have to make room.
 */
export function roundsOf(count: number, from = 0): Item[] {
  return Array.from({ length: count }, (_, offset) => {
    const call_id = `call_${from + offset}`
    const given = { part: from + offset, reason: 'the lazy dog jumps over the quick brown fox '.repeat(26) }
    return [
      { type: 'function_call', call_id, name: 'read', arguments: JSON.stringify(given) },
      {
        type: 'function_call_output',
        call_id,
        output: `part ${from + offset}: ${'the quick brown fox jumps over the dog '.repeat(46)}`,
      },
    ]
  }).flat()
}

/** What the upstream refused, and the reasoning that it left out. */
export const troubleOf = ({ upstream }: ResponsesStand): unknown[] =>
  upstream.requests.flatMap(({ rejected, removed }) => [rejected ?? [], removed].flat())
