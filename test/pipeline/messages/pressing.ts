import { expect } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../../src/json/json-value.ts'
import { json, type Script } from '../../support/fake-upstream.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { standWith } from '../../support/stand.ts'

/** A message of a client or of the model. */
export type Said = { readonly role: string; readonly content: string | readonly JsonObject[] }

/** A server's own rules: why it refuses these messages, with the status; null where it takes them. */
export type Rule = (messages: readonly Said[], body: JsonObject) => string | null

export type Pressing = {
  readonly windowTokens: number
  /** Half of them where a change is made, all of them in CI. */
  readonly rounds?: number
  readonly model: string
  /** What stands behind what was said so far, before the next request; `sent` is what came to the server last. */
  readonly roundOf: (round: number, sent: readonly Said[]) => readonly Said[]
  readonly rule: Rule
  /** What the server counts of a body; a quarter of its bytes where it is left out. */
  readonly tokensOf?: (body: JsonObject, text: string) => number
  readonly usageOf?: (promptTokens: number) => JsonObject
  /** What stands before the text of a reply. */
  readonly replyOf?: (round: number) => readonly JsonObject[]
  readonly body?: JsonObject
  readonly profile?: object
}

/** What came of a conversation that presses: what the server refused, in order, and what its client was told. */
export type Pressed = {
  readonly refused: readonly string[]
  readonly sent: readonly (readonly Said[])[]
  readonly windows: readonly (string | null)[]
  readonly actions: readonly (string | null)[]
}

/** Asks after every round, with all that was said, as a client does that keeps its own history: it sees no refusal. */
export async function press(pressing: Pressing): Promise<Pressed> {
  const {
    windowTokens,
    rounds = Math.max(30, propertyRuns(60)),
    model,
    roundOf,
    rule,
    body = {},
    profile = {},
  } = pressing
  const refused: string[] = []
  const sent: (readonly Said[])[] = []
  const script: Script = (received) => {
    const text = received.body.toString()
    const asked = parseJsonText(text)
    if (!isJsonObject(asked)) throw new Error('no JSON came')
    const messages = messagesIn(asked)
    sent.push(messages)
    const promptTokens = pressing.tokensOf?.(asked, text) ?? Math.ceil(text.length / 4)
    const tooLong = `prompt is too long: ${promptTokens} tokens > ${windowTokens} maximum`
    const message = promptTokens > windowTokens ? tooLong : rule(messages, asked)
    if (message !== null) refused.push(message)
    return message === null
      ? answerOf(
          pressing.usageOf?.(promptTokens) ?? { input_tokens: promptTokens, output_tokens: 4 },
          pressing.replyOf?.(sent.length) ?? [],
        )
      : json({ type: 'error', error: { type: 'invalid_request_error', message } }, 400)
  }
  const own = { window: { tokens: windowTokens, output_reserve: 200 }, ...profile }
  await using at = await standWith(script, { profile: own })
  const messages: Said[] = [{ role: 'user', content: 'Task: make the tests pass. Never touch config.yaml.' }]
  const answers: Response[] = []
  for (let round = 0; round < rounds; round += 1) {
    messages.push(...roundOf(round, sent.at(-1) ?? []))
    const answer = await fetch(`${at.url}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model, max_tokens: 200, ...body, messages }),
    })
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
    answers.push(answer)
  }
  const header = (name: string) => answers.map(({ headers }) => headers.get(name))
  return {
    refused,
    sent,
    windows: header('x-foldgate-window'),
    actions: header('x-foldgate-action'),
  }
}

export const blocksIn = ({ content }: Said): readonly JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** Some 150 tokens that are another each time. */
export const filler = (round: number): string =>
  Array.from({ length: 60 }, (_, at) => `word${(round * 7919 + at * 104_729) % 9973}`).join(' ')

/** A call of the client's and its result. */
export const callOf = (round: number): JsonObject => ({
  type: 'tool_use',
  id: `toolu_${round}`,
  name: 'Bash',
  input: { command: `run ${round}` },
})
export const resultOf = (round: number): JsonObject => ({
  type: 'tool_result',
  tool_use_id: `toolu_${round}`,
  content: `part ${round}: ${filler(round)}`,
})

/** Anthropic's rules of calls and results. */
export const pairsRule: Rule = (messages) => {
  const blocks = messages.map(blocksIn)
  for (const [index, own] of blocks.entries()) {
    const answered = new Set((blocks[index + 1] ?? []).map(({ tool_use_id: id }) => id))
    const asked = new Set((blocks[index - 1] ?? []).map(({ id }) => id))
    for (const { type, id, tool_use_id: of } of own) {
      if (type === 'tool_use' && !answered.has(id))
        return `messages.${index}: tool_use ids were found without tool_result blocks`
      if (type === 'tool_result' && !asked.has(of))
        return `messages.${index}: unexpected tool_use_id found in tool_result blocks`
    }
  }
  return null
}

// --- internal ---

function messagesIn({ messages }: JsonObject): readonly Said[] {
  return Array.isArray(messages) ? messages : []
}

const answerOf = (usage: JsonObject, before: readonly JsonObject[]): Script =>
  json({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [...before, { type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  })
