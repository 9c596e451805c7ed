import { describe, expect, onTestFinished, test } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../src/json/json-value.ts'
import { mergedDelta } from '../../src/formats/chat/reply/merged-delta.ts'
import {
  bodyOf,
  messagesIn,
  misplacedThought,
  sign,
  signaturesIn,
  thinkingReply,
  type ThoughtShape,
} from '../support/chat-seals.ts'
import { openDice } from '../../src/commands/demo/dice.ts'
import { bytes, json, type Script } from '../support/fake-upstream.ts'
import { postChat, rawMessages, type ChatReply } from '../support/post-chat.ts'
import { standWith, type Stand } from '../support/stand.ts'

// What Claude thinks is signed for the conversation that it was thought in, also where a gateway hands it on in a chat
// completion: behind a compaction it came back as it was, and the provider refused the request, or left it out each time.

const THOUGHT = 'I look at the next part before I decide. '.repeat(12)
const PART = 'the quick brown fox jumps over the lazy dog again '.repeat(30)
const REFUSAL =
  'litellm.BadRequestError: AnthropicException - messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.'
const profile = { window: { tokens: 4_000, output_reserve: 400 } }

/** A model that thinks and then calls a tool, or says what `says` gives for the request of this number. */
function thinker(shape: ThoughtShape, says: (round: number) => string | null = () => null): Script {
  let round = 0
  return (request) => {
    const body = bodyOf(request)
    if (misplacedThought(body) !== null) return json({ error: { message: REFUSAL, code: '400' } }, 400)
    round += 1
    const said = says(round)
    const calls = {
      id: `call_${round}`,
      type: 'function',
      function: { name: 'read', arguments: `{"part":${round}}` },
    }
    const message = {
      role: 'assistant',
      ...thinkingReply(shape, THOUGHT, sign(body), said ?? `I read part ${round}.`),
      ...(said === null ? { tool_calls: [calls] } : {}),
    }
    const choices = [{ index: 0, message, finish_reason: said === null ? 'tool_calls' : 'stop' }]
    return json({ id: 'x', object: 'chat.completion', model: 'm', choices })
  }
}

/** A model that thinks, reads back what it was asked for, thinks again and says it. */
function reader(): Script {
  return (request) => {
    const body = bodyOf(request)
    if (misplacedThought(body) !== null) return json({ error: { message: REFUSAL, code: '400' } }, 400)
    const hasRead = messagesIn(body).at(-1)?.['role'] === 'tool'
    const call = { name: 'recall_conversation', arguments: '{"messages":"#3"}' }
    const message = {
      role: 'assistant',
      ...thinkingReply('openrouter', THOUGHT, sign(body), hasRead ? 'It says fox.' : ''),
      ...(hasRead ? {} : { tool_calls: [{ index: 0, id: 'r', type: 'function', function: call }] }),
    }
    const finish_reason = hasRead ? 'stop' : 'tool_calls'
    const head = { id: 'x', created: 1, model: 'm' }
    if (body['stream'] !== true) return json({ ...head, choices: [{ index: 0, message, finish_reason }] })
    const chunks = [
      { delta: message, finish_reason: null },
      { delta: {}, finish_reason },
    ].map((choice) => `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })}\n\n`)
    const events = `${chunks.join('')}data: [DONE]\n\n`
    return bytes(events, { 'content-type': 'text/event-stream' })
  }
}

async function standFor(script: Script, more: object = {}): Promise<Stand> {
  const stand = await standWith(script, { profile: { ...profile, ...more } })
  onTestFinished(stand[Symbol.asyncDispose])
  return stand
}

function repliedIn({ text }: ChatReply): JsonObject {
  const body = parseJsonText(text)
  const [choice]: unknown[] = isJsonObject(body) && Array.isArray(body['choices']) ? body['choices'] : []
  return isJsonObject(choice) && isJsonObject(choice['message']) ? choice['message'] : {}
}

/** What the deltas of a stream add up to, as a client takes them together. */
function streamedIn({ text }: ChatReply): JsonObject {
  const deltas = text.split('\n').flatMap((line) => {
    const chunk = parseJsonText(line.replace(/^data: /, ''))
    const [choice]: unknown[] = isJsonObject(chunk) && Array.isArray(chunk['choices']) ? chunk['choices'] : []
    return isJsonObject(choice) && isJsonObject(choice['delta']) ? [choice['delta']] : []
  })
  return deltas.reduce(mergedDelta, {})
}

/** Sends a conversation and goes on with it as an agent does: `part` is what each call reads. */
async function live(stand: Stand, messages: JsonObject[], rounds: number, part = PART): Promise<ChatReply[]> {
  const replies: ChatReply[] = []
  for (let round = 0; round < rounds; round += 1) {
    const reply = await postChat(stand.url, { model: 'claude-opus-5-5', messages })
    expect(reply.status).toBe(200)
    replies.push(reply)
    const message = repliedIn(reply)
    messages.push(message)
    const [call]: unknown[] = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
    messages.push(
      isJsonObject(call)
        ? { role: 'tool', tool_call_id: call['id'], content: `${String(call['id'])} ${part}` }
        : { role: 'user', content: 'Go on.' },
    )
  }
  return replies
}

describe.each<ThoughtShape>(['litellm', 'openrouter', 'parts'])(
  'signed thoughts as %s carries them',
  (shape) => {
    test('are lost at a compaction and at no other request, and never sent where they do not hold', async () => {
      const stand = await standFor(thinker(shape))
      const replies = await live(stand, [{ role: 'user', content: 'Read every part.' }], 24)
      expect(replies.at(-1)?.action).toBe('compacted')
      const { requests } = stand.upstream
      expect(requests).toHaveLength(24)
      let compactions = 0
      for (const [index, request] of requests.entries()) {
        const before = rawMessages(requests[index - 1])
        const raw = rawMessages(request)
        if (before.every((message, place) => raw[place] === message)) {
          // What was sent is sent again, and what was thought since stands behind it.
          const newest = messagesIn(bodyOf(request)).findLast(({ role }) => role === 'assistant')
          if (index > 0) expect(signaturesIn(newest)).not.toEqual([])
          continue
        }
        compactions += 1
      }
      expect(compactions).toBeGreaterThan(1)
      expect(compactions).toBeLessThan(12)
    })

    test('are taken out with all that says them, and nothing else of their message is', async () => {
      const stand = await standFor(thinker(shape))
      const messages: JsonObject[] = [{ role: 'user', content: 'Read every part.' }]
      await live(stand, messages, 24)
      const cleaned = stand.upstream.requests
        .flatMap(rawMessages)
        .filter((raw) => raw.includes('"role":"assistant"') && !raw.includes('signature'))
      expect(cleaned.length).toBeGreaterThan(0)
      for (const raw of cleaned) {
        expect(raw).not.toContain('before I decide')
        expect(raw).toContain('"tool_calls":[{"id":"call_')
        expect(raw).toMatch(/I read part \d+\./)
      }
    })

    test('a message that was nothing else is not sent empty', async () => {
      const stand = await standFor(thinker(shape, (round) => (round % 3 === 0 ? '' : null)))
      await live(stand, [{ role: 'user', content: 'Read every part.' }], 24)
      for (const request of stand.upstream.requests) {
        for (const message of messagesIn(bodyOf(request))) {
          const isSilent = message['role'] === 'assistant' && message['tool_calls'] === undefined
          if (isSilent) expect(signaturesIn(message)).not.toEqual([])
        }
      }
      expect(rawMessages(stand.upstream.requests.at(-1)).join()).not.toContain('call_1 the quick')
    })

    test('stay where a compaction changes nothing that stands before them', async () => {
      const stand = await standFor(thinker(shape))
      const messages: JsonObject[] = [{ role: 'user', content: 'Read every part.' }]
      const [, reply] = await live(stand, messages, 2, PART.repeat(30))
      expect(reply?.action).toBe('compacted')
      const sent = messagesIn(bodyOf(stand.upstream.requests.at(-1) ?? expect.fail()))
      expect(sent.slice(0, 2)).toEqual(messages.slice(0, 2))
      expect(sent.flatMap(signaturesIn)).toHaveLength(1)
    })
  },
)

// A message whose thoughts had gone at one compaction got them back at the next, where that changed nothing before it: a thought
// that was out and is back is no more allowed than one that stands elsewhere.
test.each([1, 3, 7])(
  'whatever the rounds of an agent are, nothing is refused and nothing sent empty: seed %i',
  async (seed) => {
    const dice = openDice(seed)
    const words = (count: number): string => 'quick brown fox jumps '.repeat(dice.below(count))
    const stand = await standFor(thinker('parts', () => (dice.below(3) === 0 ? words(20) : null)))
    const messages: JsonObject[] = [{ role: 'user', content: 'Read every part.' }]
    for (let round = 0; round < 20; round += 1) {
      const [reply] = await live(stand, messages, 1, words(dice.below(5) === 0 ? 900 : 120))
      expect(reply?.action).not.toContain('restored')
    }
    const sent = stand.upstream.requests.flatMap((request) => messagesIn(bodyOf(request)))
    for (const { role, content, tool_calls: calls } of sent)
      if (role === 'assistant' && calls === undefined) expect(content).not.toEqual([])
  },
)

// The client got the thoughts of the answer that read back, made behind a call that it never saw, and sent them with its next
// request, where they did not hold.
test.each([
  ['plain', false],
  ['streamed', true],
])(
  'of a reply that took two answers the client gets thoughts that hold in its own history, %s',
  async (_, stream) => {
    const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }]
    const stand = await standFor(reader(), { recall: { enabled: true } })
    const messages: JsonObject[] = [
      { role: 'user', content: 'Read every part.' },
      ...Array.from({ length: 20 }, (_each, round) => signedByGemini(round)).flat(),
      { role: 'user', content: 'What does part 0 say?' },
    ]
    for (let turn = 0; turn < 2; turn += 1) {
      const reply = await postChat(stand.url, { model: 'claude-opus-5-5', messages, tools, stream })
      expect(reply.status).toBe(200)
      expect(stand.upstream.requests).toHaveLength(2 * turn + 2)
      const message = stream ? streamedIn(reply) : repliedIn(reply)
      expect(message).toMatchObject({ content: 'It says fox.' })
      expect(signaturesIn(message)).toHaveLength(1)
      messages.push(message, { role: 'user', content: 'And part 1?' })
    }
  },
)

test('what is sent is counted without the thoughts that went, so that the room is filled', async () => {
  const stand = await standFor(thinker('litellm'))
  const messages: JsonObject[] = [{ role: 'user', content: 'Read every part.' }]
  const replies = await live(stand, messages, 24)
  const counted = replies.map(({ header }) =>
    Number(/sent=<?(\d+)/.exec(header('x-foldgate-tokens') ?? '')?.[1]),
  )
  // The same request, sent as a new conversation that fits, is counted by what stands in it.
  const other = await standFor(thinker('litellm'), { window: { tokens: 100_000 } })
  for (const at of [12, 18, 23]) {
    const sent = stand.upstream.requests[at]
    if (sent === undefined) return expect.fail()
    const reply = await postChat(
      other.url,
      { model: 'claude-opus-5-5', messages: messagesIn(bodyOf(sent)) },
      {
        'x-foldgate-compact': 'force',
      },
    )
    expect(Number(/^(\d+)/.exec(reply.header('x-foldgate-tokens') ?? '')?.[1])).toBe(counted[at])
  }
})

/** A round of Gemini's, as OpenRouter writes it. */
function signedByGemini(round: number): JsonObject[] {
  return [
    {
      role: 'assistant',
      content: '',
      reasoning_details: [
        {
          type: 'reasoning.encrypted',
          data: 'c2lnbmVk',
          format: 'google-gemini-v1',
          id: `call_${round}`,
          index: 0,
        },
      ],
      tool_calls: [{ id: `call_${round}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `call_${round}`, content: PART },
  ]
}

test('thoughts that a client sends where they do not hold are left out once they are refused', async () => {
  const stand = await standFor(thinker('litellm'))
  const messages: JsonObject[] = [{ role: 'user', content: 'Read every part.' }]
  await live(stand, messages, 2, 'short')
  messages[0] = { role: 'user', content: 'Read every second part.' }
  const [first, second] = await live(stand, messages, 2, 'short')
  expect([first?.action, second?.action]).toEqual(['restored;reason=thoughts', 'compacted;reason=thoughts'])
  expect(stand.upstream.requests).toHaveLength(5)
  const [cured, next] = stand.upstream.requests.slice(-2).map((request) => messagesIn(bodyOf(request)))
  expect(cured?.flatMap(signaturesIn)).toEqual([])
  expect(next?.flatMap(signaturesIn)).toHaveLength(1)
})

test('what Gemini has signed holds in any conversation: its calls are refused without', async () => {
  const messages = [
    { role: 'user', content: 'Read every part.' },
    ...Array.from({ length: 20 }, (_, round) => signedByGemini(round)).flat(),
  ]
  const stand = await standFor(json({ choices: [] }))
  const reply = await postChat(stand.url, { model: 'gemini-3-pro', messages })
  expect(reply.action).toBe('compacted')
  const sent = messagesIn(bodyOf(stand.upstream.requests.at(-1) ?? expect.fail()))
  const calling = sent.filter((message) => message['tool_calls'] !== undefined)
  expect(calling.length).toBeGreaterThan(1)
  for (const message of calling) expect(message).toHaveProperty('reasoning_details')
})
