import { describe, expect, test } from 'vitest'
import { openDice } from '../../../src/commands/demo/dice.ts'
import { sampleSource } from '../../../src/commands/demo/tools.ts'
import { lastWordsOf } from '../../../src/pipeline/reply/seams.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { longRun } from '../../support/conversations.ts'
import { readAsClient } from '../../formats/chat/reply/streamed.ts'
import { bytes, type FakeUpstream, json, type Script } from '../../support/fake-upstream.ts'
import { type Stand, standWith } from '../../support/stand.ts'
import { chatOf, type ChatReply, postChat } from '../../support/post-chat.ts'
import { type Asked, model, type ScriptedReply } from './reply-script.ts'

const bash = { type: 'function', function: { name: 'bash', parameters: { type: 'object', properties: {} } } }
const whole = `${sampleSource(openDice(5), 8)}\n\n我们 went home. 👩‍🚀 And so on.`
const hello = [{ role: 'user', content: 'Write it.' }]
const streamed = { stream: true, stream_options: { include_usage: true } }

const askedOf = ({ requests }: FakeUpstream): Asked[] =>
  requests.map(({ body }) => JSON.parse(body.toString()))

const standCut = (reply: (asked: Asked) => ScriptedReply, max = 3, changed: object = {}): Promise<Stand> =>
  standWith(model(reply), { profile: { continuation: { max }, ...changed } })

/** A model that stops after so many characters each time; `repeats`: it begins with the words that it is asked to begin with. */
const cutEvery =
  (chars: number, repeats = false) =>
  (asked: Asked): ScriptedReply => {
    const said = asked.messages.length === 1 ? '' : String(asked.messages.at(-2)?.content)
    const rest = whole.slice(said.length)
    const blanks = said.slice(said.trimEnd().length)
    const begin = repeats && said !== '' ? lastWordsOf(said) + blanks : ''
    return rest.length <= chars
      ? { text: begin + rest }
      : { text: begin + rest.slice(0, chars), reason: 'length' }
  }

describe.each([
  ['plainly', {}],
  ['in a stream', streamed],
])('%s', (_, form) => {
  const choiceOf = (reply: ChatReply) => {
    if ('stream' in form) {
      const { text, calls, reasons, usage } = readAsClient([reply.text])
      return {
        text,
        calls: calls.map((call) => ({ name: call.name, arguments: call.arguments })),
        reason: reasons.join(),
        usage,
      }
    }
    const { choices, usage } = JSON.parse(reply.text)
    const { message, finish_reason: reason } = choices[0]
    const calls = (message.tool_calls ?? []).map((call: { function: object }) => call.function)
    return { text: message.content ?? '', calls, reason, usage }
  }

  test.each([1, 2])('a reply that was cut %i times is the exact whole', async (times) => {
    for (const repeats of [false, true]) {
      await using at = await standCut(cutEvery(Math.ceil(whole.length / (times + 1)), repeats))
      const reply = await postChat(at.url, chatOf(hello, form))
      const [one, two, all] = [100, 10, 110].map((tokens) => tokens * (times + 1))
      const usage = { prompt_tokens: one, completion_tokens: two, total_tokens: all }
      expect(choiceOf(reply)).toEqual({ text: whole, reason: 'stop', calls: [], usage })
      expect(at.upstream.requests).toHaveLength(times + 1)
    }
  })

  test.each([
    [0, 10],
    [2, 30],
  ])('at most %i times: what is still cut then says so', async (max, length) => {
    await using at = await standCut(cutEvery(10), max)
    const reply = choiceOf(await postChat(at.url, chatOf(hello, form)))
    expect(reply).toMatchObject({ text: whole.slice(0, length), reason: 'length' })
    expect(at.upstream.requests).toHaveLength(max + 1)
  })

  // An error with status 200, or an answer that broke off, took the place of the reply that was there.
  test.each([
    ['is refused', json({ error: { message: 'No.' } }, 400)],
    ['fails with status 200', json({ error: { message: 'Busy.' } })],
    ['states half an answer', bytes('{"choices":[{"ind', { 'content-type': 'application/json' })],
  ])('where going on %s, it is passed on as it was cut', async (_what, answer) => {
    const failing = model((asked) =>
      asked.messages.length > 1 ? answer : { text: 'Half a', reason: 'length' },
    )
    // Of a prompt that is far from its window no answer is held back to be judged.
    const profile = { window: { tokens: 100_000 }, continuation: { max: 3 } }
    await using at = await standWith(failing, { profile })
    const reply = await postChat(at.url, chatOf(hello, form))
    expect(reply.status).toBe(200)
    expect(choiceOf(reply)).toMatchObject({ text: 'Half a', reason: 'length' })
    expect(at.foldgate.log.join('\n')).toContain('"part":"continuation"')
  })

  test('a call that was cut is asked for again in smaller pieces', async () => {
    await using at = await standCut((asked) =>
      asked.messages.length === 1
        ? {
            text: 'I write it.',
            calls: [{ name: 'bash', arguments: '{"command":"cat > a <<E' }],
            reason: 'length',
          }
        : { calls: [{ name: 'bash', arguments: '{"command":"one"}' }] },
    )
    const reply = choiceOf(await postChat(at.url, chatOf(hello, { tools: [bash], ...form })))
    expect(reply).toMatchObject({
      text: 'I write it.',
      calls: [{ name: 'bash', arguments: '{"command":"one"}' }],
      reason: 'tool_calls',
    })
    const [assistant, user] = askedOf(at.upstream)[1]?.messages.slice(-2) ?? []
    expect(assistant).toEqual({ role: 'assistant', content: 'I write it.' })
    expect(user?.content).toMatch(/call of bash.*smaller pieces/s)
  })

  const complete: ScriptedReply = { calls: [{ name: 'bash', arguments: '{"a":1}' }], reason: 'length' }

  test.each([
    ['that ends with a complete call', () => complete, { tools: [bash] }],
    ['with a schema', cutEvery(10), { response_format: { type: 'json_object' } }],
    ['with several answers', cutEvery(10), { n: 2 }],
  ])('a reply %s is left alone', async (_what, reply, more) => {
    await using at = await standCut(reply)
    await postChat(at.url, chatOf(hello, { ...more, ...form }))
    expect(at.upstream.requests).toHaveLength(1)
  })
})

const half = 'data: {"id":"b","choices":[{"index":0,"delta":{"content":" a lo"},"finish_reason":null}]}\n\n'
const ended = 'data: {"id":"b","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'

const breakingAfter =
  (text: string): Script =>
  (_request, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write(text)
    setTimeout(() => outgoing.destroy(), 20)
  }

// Half of a continuation had flowed when the upstream broke off: a client that had a cut reply was left with none.
test('a stream whose continuation breaks off stands as one that was cut', async () => {
  const cut = model((asked) =>
    asked.messages.length > 1 ? breakingAfter(half) : { text: 'Half', reason: 'length' },
  )
  await using at = await standWith(cut, { profile: { continuation: { max: 3 } } })
  const reply = await postChat(at.url, chatOf(hello, streamed))
  expect(readAsClient([reply.text])).toMatchObject({ text: 'Half a lo', reasons: ['length'], done: 1 })
  expect(readAsClient([reply.text]).ids.size).toBe(1)
})

// It had said that it was over, and was then told to have been cut: two ends, and the second one wrong.
test.each([
  ['its end', half + ended],
  ['its last word', `${half}${ended}data: [DONE]\n\n`],
])('one that breaks off behind %s is whole', async (_, text) => {
  const cut = model((asked) =>
    asked.messages.length > 1 ? breakingAfter(text) : { text: 'Half', reason: 'length' },
  )
  await using at = await standWith(cut, { profile: { continuation: { max: 3 } } })
  const reply = await postChat(at.url, chatOf(hello, streamed))
  expect(readAsClient([reply.text])).toMatchObject({ text: 'Half a lo', reasons: ['stop'], done: 1 })
  expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('usage that nobody asked for is asked for in none of the answers, and hidden in none', async () => {
  await using at = await standCut(cutEvery(Math.ceil(whole.length / 2)))
  const reply = await postChat(at.url, chatOf(hello, { stream: true }))
  expect(readAsClient([reply.text])).toMatchObject({ text: whole, usage: null })
  expect(askedOf(at.upstream).map(({ stream_options: options }) => options)).toEqual([undefined, undefined])
})

// A long reply is mostly cut behind a long prompt, and was then never gone on with: both together did not fit.
test('where the prompt is near its budget, the reply goes on behind a smaller form of it', async () => {
  const long = sampleSource(openDice(8), 300)
  const cut = model((asked) =>
    asked.messages.at(-1)?.content === 'Go on.' || asked.messages.at(-1)?.role === 'tool'
      ? { text: long.slice(0, 6_000), reason: 'length' }
      : { text: long.slice(6_000) },
  )
  const messages = [
    ...longRun(30, 9),
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'Go on.' },
  ]
  const near = { window: { tokens: 8_000, output_reserve: 1_000 }, trigger: 1, target: 0.99 }
  await using at = await standWith(cut, { profile: { ...near, continuation: { max: 2 } } })
  const reply = await postChat(at.url, chatOf(messages, { model: 'gpt-4o' }))
  expect(JSON.parse(reply.text).choices[0].message.content).toBe(long)
  const [first, second] = askedOf(at.upstream)
  const { count } = await loadCounter('o200k_base')
  const behind = count(JSON.stringify(second?.messages.slice(0, -2)))
  expect(behind).toBeLessThan(count(JSON.stringify(first?.messages)))
})

test('a reply that would not fit the window any more is passed on as it was cut', async () => {
  const long = 'word '.repeat(700)
  await using at = await standCut(() => ({ text: long, reason: 'length' }), 3, {
    window: { tokens: 1_000, output_reserve: 400 },
  })
  const reply = await postChat(at.url, chatOf(hello))
  expect(at.upstream.requests).toHaveLength(1)
  expect(JSON.parse(reply.text).choices[0].message.content).toBe(long)
})
