import { afterAll, describe, expect, test } from 'vitest'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { bytes, json, overflow, type FakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { readAsClient, type Client } from '../../formats/chat/reply/streamed.ts'
import { chatOf, postChat, type ChatReply } from '../../support/post-chat.ts'
import { hasRecall, model, RECALL, type Asked, type ScriptedReply } from './reply-script.ts'

const bash = { type: 'function', function: { name: 'bash', parameters: { type: 'object', properties: {} } } }
const profile = { window: { tokens: 6_000, output_reserve: 1_000 }, recall: { enabled: true } }

/** A fact that was told in a result some twenty rounds ago, and stands nowhere else. */
const FACT = 'The vault opens with plum-granite-77.'
const run = longRun(24, 9)
const folded: TestMessage[] = run.map((message, at) =>
  at === run.findIndex(({ role }) => role === 'tool')
    ? { ...message, content: `ok\n${FACT}\ndone` }
    : message,
)
const question: TestMessage[] = [
  ...folded,
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'How does the vault open?' },
]

/** Of the request alone, the upstream takes more. */
const SMALL_BYTES = 10_000

const askedOf = ({ requests }: FakeUpstream): Asked[] =>
  requests.map(({ body }) => JSON.parse(body.toString()))
const results = ({ messages }: Asked) => messages.filter(({ role }) => role === 'tool')
const lastOf = ({ messages }: Asked) => String(messages.at(-1)?.content)

/** A model that searches for what it cannot see, and says what it found. */
function seeker(first: ScriptedReply = {}) {
  return model((asked) => {
    const last = asked.messages.at(-1)
    if (last?.role !== 'tool')
      return { ...first, calls: [{ name: RECALL, arguments: '{"search":"vault opens"}' }] }
    const found = /vault opens with ([\w-]+)/.exec(String(last.content))?.[1]
    return { text: found === undefined ? 'I do not know.' : `With ${found}.` }
  })
}

/** A model that reads back once: it is answered so in the detour, and so where it has no such tool. */
function detouring(
  inDetour: ScriptedReply | Script,
  without: ScriptedReply | Script = { text: 'I do not know.' },
  ...calls: readonly string[]
) {
  const asking = (calls.length === 0 ? ['{}'] : calls).map((text) => ({ name: RECALL, arguments: text }))
  return model((asked) => {
    if (asked.messages.at(-1)?.role === 'tool' && hasRecall(asked)) return inDetour
    return hasRecall(asked) ? { calls: asking } : without
  })
}

let script: Script = () => {}
const shared = await standWith(() => script, { profile })
afterAll(shared[Symbol.asyncDispose])
let asks = 0

/** Asks this model through the file's one Foldgate, under a name that nothing is known of yet. */
async function ask(said: Script, messages: readonly TestMessage[], more: object = {}) {
  script = said
  shared.upstream.requests.length = 0
  const body = chatOf(messages, { model: `model-${(asks += 1)}`, tools: [bash], ...more })
  const reply = await postChat(shared.url, body)
  const sent = shared.upstream.requests.map((request) => request.body.toString())
  return { reply, body: JSON.stringify(body), sent, asked: askedOf(shared.upstream) }
}

const streamed = { stream: true, stream_options: { include_usage: true } }
const clientOf = ({ text }: ChatReply): Client => readAsClient([text])

describe('a model that asks for something that was folded twenty rounds ago', () => {
  test('gets it, and the client gets one plain answer with no sign of the detour', async () => {
    const { reply, asked } = await ask(seeker(), question)
    expect(reply.action).toBe('compacted')
    const [first, second, ...more] = asked
    expect(more).toEqual([])
    expect(JSON.stringify(first?.messages)).not.toContain('plum-granite-77')
    expect(second && lastOf(second)).toContain(FACT)
    expect(JSON.parse(reply.text)).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'With plum-granite-77.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 200, completion_tokens: 20, total_tokens: 220 },
    })
    expect(reply.text).not.toMatch(/recall|tool_calls/)
    expect(reply.header('x-foldgate-attempts')).toBe('2')
  })

  test('gets it in a stream, whose text flows before and behind, and goes on from the very prompt that it was asked with', async () => {
    const speaking = seeker({ text: 'One moment.', reasoning: 'I look.' })
    const { reply, sent, asked } = await ask(speaking, question, streamed)
    expect(clientOf(reply)).toMatchObject({
      text: 'One moment.\n\nWith plum-granite-77.',
      calls: [],
      reasons: ['stop'],
      roles: 1,
      usage: { prompt_tokens: 200, completion_tokens: 20, total_tokens: 220 },
      done: 1,
    })
    expect(clientOf(reply).ids.size).toBe(1)
    expect(reply.text).not.toMatch(/recall|tool_calls/)
    const [first, second] = sent
    const end = first?.lastIndexOf('],"tools"') ?? -1
    expect(second?.startsWith(first?.slice(0, end) ?? 'none')).toBe(true)
    const calls = [{ function: { name: RECALL } }]
    expect(asked[1]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'One moment.', reasoning_content: 'I look.', tool_calls: calls },
      { role: 'tool' },
    ])
  })
})

const said = model(() => ({ text: 'Hello.' }))
const short: TestMessage[] = [{ role: 'user', content: 'Hi' }]

async function countedTokens(enabled: boolean): Promise<number> {
  // A limit on messages has even small prompts counted.
  const counted = { limit: { messages: 500 }, recall: { enabled } }
  await using at = await standWith(said, { profile: { ...profile, ...counted } })
  const reply = await postChat(at.url, chatOf(short, { tools: [bash], model: 'gpt-4o' }))
  return Number(/sent=(\d+)/.exec(reply.header('x-foldgate-tokens') ?? '')?.[1])
}

test('a model is told where nothing was left out', async () => {
  const { asked } = await ask(seeker(), short)
  expect(asked.map(lastOf)[1]).toContain('Nothing was left out')
})

describe('the tool', () => {
  test('stands last in the list from the first request on, and every other byte is the client’s', async () => {
    await using at = await standWith(said, { profile })
    const text = `{ "model": "m","tools" : [ ${JSON.stringify(bash)} ] ,"messages":[{"role":"user","content":"a\\u00e9"}], "seed": 12345678901234567890 }`
    await postChat(at.url, text)
    const sent = at.upstream.requests[0]?.body.toString() ?? ''
    const tool =
      /,\{"type":"function","function":\{"name":"recall_conversation".*?\}\}\}(?=\])/.exec(sent)?.[0] ??
      'none'
    expect(sent.replace(tool, '')).toBe(text)
  })

  test.each([{ recall: { enabled: false } }, { observe: true }])(
    'is not offered with %j',
    async (changed) => {
      await using at = await standWith(said, { profile: { ...profile, ...changed } })
      const body = JSON.stringify(chatOf(short, { tools: [bash] }))
      await postChat(at.url, body)
      expect(at.upstream.requests.map((request) => request.body.toString())).toEqual([body])
    },
  )

  test.each<[object, boolean]>([
    [{ tools: [bash] }, true],
    [{ tools: [bash], tool_choice: 'auto' }, true],
    [{}, false],
    [{ tools: [] }, false],
    [{ functions: [bash.function] }, false],
    [{ tools: [bash], n: 2 }, false],
    [{ tools: [bash], tool_choice: 'required' }, false],
  ])(
    'is not offered without tools, for several answers, or where a call is forced: %j %j',
    async (...row) => {
      const [more, isOffered] = row
      const { sent, asked, body } = await ask(said, short, { tools: undefined, ...more })
      expect(asked.map(hasRecall)).toEqual([isOffered])
      if (!isOffered) expect(sent).toEqual([body])
    },
  )

  test('is counted from the start', async () => {
    const added = (await countedTokens(true)) - (await countedTokens(false))
    expect(added).toBeGreaterThan(50)
    expect(added).toBeLessThan(250)
  })

  test('has another name where the client has a tool of that name', async () => {
    const own = { ...bash, function: { ...bash.function, name: RECALL } }
    const { asked } = await ask(said, short, { tools: [own] })
    const names = asked[0]?.tools?.map((tool) => tool.function.name)
    expect(names?.[0]).toBe(RECALL)
    expect(names).toHaveLength(2)
    expect(names?.[1]).not.toBe(RECALL)
  })

  test.each([
    [
      'a schema beside tools',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } },
    ],
    ['one more tool', {}],
  ])('is taken back where the upstream refuses %s, and not offered there again', async (_, more) => {
    const refusal = json({ error: { message: 'Too many tools for this schema.' } }, 400)
    const picky = model((asked) => (hasRecall(asked) ? refusal : { text: 'Fine.' }))
    await using at = await standWith(picky, { profile })
    const body = chatOf(short, { tools: [bash], ...more })
    const [one, two] = [await postChat(at.url, body), await postChat(at.url, body)]
    expect([one.status, two.status]).toEqual([200, 200])
    expect(askedOf(at.upstream).map(hasRecall)).toEqual([true, false, false])
    expect(at.upstream.requests[1]?.body.toString()).toBe(JSON.stringify(body))
    expect(one.text).toContain('Fine.')
  })

  test('refused beside a schema it is still offered without one', async () => {
    const picky = model((asked) =>
      hasRecall(asked) && 'response_format' in asked
        ? json({ error: { message: 'No.' } }, 400)
        : { text: 'Fine.' },
    )
    await using at = await standWith(picky, { profile })
    const schema = { response_format: { type: 'json_object' } }
    await postChat(at.url, chatOf(short, { tools: [bash], ...schema }))
    await postChat(at.url, chatOf(short, { tools: [bash] }))
    expect(askedOf(at.upstream).map(hasRecall)).toEqual([true, false, true])
  })

  // One odd 500 took the tool away for an hour, and with it the beginning of every cached prompt.
  test('is offered again where a 500 went away without it: that may have been a passing trouble', async () => {
    await using at = await standWith([json({ error: { message: 'Oops.' } }, 500), said], { profile })
    const body = chatOf(short, { tools: [bash] })
    for (const reply of [await postChat(at.url, body), await postChat(at.url, body)])
      expect(reply.status).toBe(200)
    expect(askedOf(at.upstream).map(hasRecall)).toEqual([true, false, true])
  })

  test('what the upstream refuses either way is its own error, unchanged', async () => {
    const error = { error: { message: 'No such model.', code: 'model_not_found' } }
    const { reply } = await ask(json(error, 400), short)
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.text)).toEqual(error)
  })
})

describe.each([
  ['plainly', {}],
  ['in a stream', streamed],
])('%s', (_, form) => {
  const textOf = (reply: ChatReply): string =>
    'stream' in form ? clientOf(reply).text : (JSON.parse(reply.text).choices[0].message.content ?? '')

  test('several calls in one go are all answered, each with less room', async () => {
    const asking = detouring({ text: 'Enough.' }, {}, '{}', '{"messages":"#2-#90"}', '{"search":"src"}')
    const { reply, asked } = await ask(asking, question, form)
    expect(textOf(reply)).toBe('Enough.')
    const [called, ...answers] = asked[1]?.messages.slice(-4) ?? []
    expect(answers.map((message) => message.tool_call_id)).toEqual(called?.tool_calls?.map(({ id }) => id))
  })

  test('after so many rounds the model is told that there are no more, once, and its reply stands', async () => {
    const greedy = model(() => ({ text: 'More.', calls: [{ name: RECALL, arguments: '{}' }] }))
    // With room for more than it may read back: only their number ends it.
    await using at = await standWith(greedy, {
      profile: { ...profile, target: 0.4, recall: { enabled: true, rounds: 2 } },
    })
    const reply = await postChat(at.url, chatOf(question, { tools: [bash], ...form }))
    const asked = askedOf(at.upstream)
    expect(asked).toHaveLength(4)
    expect(asked.map(hasRecall)).toEqual([true, true, true, false])
    expect(asked[3] && lastOf(asked[3])).toContain('No more')
    expect(textOf(reply)).toBe('More.\n\nMore.\n\nMore.\n\nMore.')
    expect(reply.text).not.toContain('tool_calls')
    expect(reply.text).toContain('"finish_reason":"stop"')
  })

  test('nonsense in its arguments is told to the model', async () => {
    const { reply, asked } = await ask(
      detouring({ text: 'I see.' }, {}, '{"messages": "the fir'),
      question,
      form,
    )
    expect(textOf(reply)).toBe('I see.')
    const replayed = asked[1]?.messages.at(-2)
    // Servers read the arguments of past calls as JSON.
    expect(replayed?.tool_calls?.[0]?.function.arguments).toBe('{}')
  })

  test('where the upstream does not go on, the request is answered as if there were no such tool', async () => {
    const { reply, asked } = await ask(detouring(json({ error: { message: 'No.' } }, 400)), question, form)
    expect([reply.status, textOf(reply), asked.length]).toEqual([200, 'I do not know.', 3])
    expect(shared.foldgate.log.join('\n')).toContain('"part":"recall"')
  })

  test('an answer that breaks off in the detour breaks off the stream, and is made anew where nothing flowed', async () => {
    const breaking = detouring((_request, outgoing) => {
      const type = 'stream' in form ? 'text/event-stream' : 'application/json'
      outgoing.writeHead(200, { 'content-type': type })
      outgoing.write('data: {"choices":[{"index":0,"delta":{"content":"Ha')
      setTimeout(() => outgoing.destroy(), 20)
    })
    const answered = ask(breaking, question, form)
    if ('stream' in form) await expect(answered).rejects.toThrow(/terminated|failed/)
    else expect(textOf((await answered).reply)).toBe('I do not know.')
  })

  // A gateway's error with status 200 ended a stream without a word, as if it were whole.
  test('an error with status 200 in the detour is a refusal', async () => {
    const { reply } = await ask(detouring(json({ error: { message: 'Busy.' } })), short, form)
    expect(textOf(reply)).toBe('I do not know.')
    expect(reply.text).not.toContain('Busy')
  })

  test('a client that leaves in the detour ends it', async () => {
    await using at = await standWith(
      detouring(() => {}),
      { profile },
    )
    const controller = new AbortController()
    const reply = postChat(at.url, chatOf(question, { tools: [bash], ...form }), {}, controller.signal)
    await expect.poll(() => at.upstream.requests.length).toBe(2)
    controller.abort()
    await expect(reply).rejects.toThrow(/abort/)
    await expect.poll(() => at.upstream.requests[1]?.left).toBe(true)
  })
})

// A view that fills its budget left no room for a page: the detour was refused, and the model never got to read.
test('a detour that does not fit goes on from a smaller form of the request', async () => {
  const seek = seeker()
  const tight: Script = (request) => {
    const asked: Asked = JSON.parse(request.body.toString())
    const isTooLong = asked.messages.at(-1)?.role === 'tool' && request.body.length > SMALL_BYTES
    return isTooLong ? overflow(4_500, 5_000) : seek
  }
  await using at = await standWith(tight, { profile })
  const reply = await postChat(at.url, chatOf(question, { tools: [bash], model: 'gpt-4o' }))
  expect(JSON.parse(reply.text).choices[0].message.content).toBe('With plum-granite-77.')
  const sizes = at.upstream.requests.map(({ body }) => body.length)
  expect(sizes.length).toBeGreaterThan(2)
  expect(sizes.at(-1)).toBeLessThanOrEqual(SMALL_BYTES)
  expect(askedOf(at.upstream).at(-1)?.messages.at(-1)?.content).toContain(FACT)
})

describe('where the upstream refuses in the detour, and without the tool as well', () => {
  const limited = model((asked) =>
    asked.messages.at(-1)?.role === 'tool' || !hasRecall(asked)
      ? json({ error: { message: 'Slow down.', type: 'rate_limit' } }, 429)
      : { text: 'One moment.', calls: [{ name: RECALL, arguments: '{}' }] },
  )

  test('a plain reply is its own error, unchanged', async () => {
    const { reply } = await ask(limited, question)
    expect(reply.status).toBe(429)
    expect(JSON.parse(reply.text)).toEqual({ error: { message: 'Slow down.', type: 'rate_limit' } })
  })

  test('a stream tells its error, and does not end as if it were whole', async () => {
    await using at = await standWith(limited, { profile })
    const answer = await fetch(`${at.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(chatOf(question, { tools: [bash], ...streamed })),
    })
    let text = ''
    const read = async () => {
      for await (const piece of answer.body ?? []) text += Buffer.from(piece).toString()
    }
    await expect(read()).rejects.toThrow('terminated')
    expect(text).toContain('data: {"error":{"message":"Slow down."')
    expect(readAsClient([text])).toMatchObject({ text: 'One moment.', reasons: [], done: 0 })
  })
})

test('usage that only Foldgate asked for is asked for again in the detour, and hidden', async () => {
  const { reply, asked } = await ask(seeker(), question, { stream: true })
  expect(clientOf(reply)).toMatchObject({ text: 'With plum-granite-77.', usage: null })
  const included = { stream_options: { include_usage: true } }
  expect(asked).toMatchObject([included, included])
})

test('the results are paged to a quarter of what is left of the budget', async () => {
  const reading = model((asked) =>
    results(asked).some(({ tool_call_id: id }) => String(id).startsWith('call_x'))
      ? { text: 'ok' }
      : { calls: [{ name: RECALL, arguments: '{"messages":"#2-#99"}', id: 'call_x' }] },
  )
  await using at = await standWith(reading, {
    profile: { ...profile, window: { tokens: 20_000, output_reserve: 1_000 } },
  })
  const reply = await postChat(at.url, chatOf(question, { tools: [bash], model: 'gpt-4o' }))
  const sent = Number(/sent=(\d+)/.exec(reply.header('x-foldgate-tokens') ?? '')?.[1])
  const [, second] = askedOf(at.upstream)
  const { loadCounter } = await import('../../../src/tokens/encodings.ts')
  const tokens = (await loadCounter('o200k_base')).count(second === undefined ? '' : lastOf(second))
  expect(tokens).toBeLessThanOrEqual((19_000 - sent) / 4)
  expect(tokens).toBeGreaterThan((19_000 - sent) / 8)
})

test('an answer with a coding that nobody can read here passes as it came', async () => {
  const packed = bytes(Buffer.from([1, 2, 3]), {
    'content-type': 'application/json',
    'content-encoding': 'x-own',
  })
  await using at = await standWith(packed, { profile })
  const answer = await fetch(`${at.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(chatOf([{ role: 'user', content: 'Hi' }], { tools: [bash] })),
  })
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from([1, 2, 3]))
})

/*
 * A gateway answered a detour with 429 and a page of HTML. Foldgate asked again without its tool, and left that page
 * unread: its connection stayed open, and behind an upstream with `concurrency: 1` the request waited for its own place.
 */
const settings = { upstreams: { default: { concurrency: 1 } } }

/** A refusal that is longer than what is read of one, and does not end. */
const endless = (status: number): Script =>
  function refuseForever(_request, outgoing) {
    outgoing.writeHead(status, { 'content-type': 'application/json' })
    outgoing.write(`{"error":{"message":"${'No. '.repeat(100_000)}`)
  }

describe.each([400, 429])('a refusal with status %d that nobody reads', (status) => {
  test.each([
    ['plainly', {}],
    ['in a stream', { stream: true }],
  ])('is let go of where the model reads back, and keeps no place: %s', async (_, form) => {
    const enabled = { profile: { recall: { enabled: true } }, settings }
    await using at = await standWith(detouring(endless(status)), enabled)
    const reply = await postChat(at.url, chatOf(short, { tools: [bash], ...form }))
    expect(reply.text).toContain('"stop"')
    await expect.poll(() => at.upstream.requests[1]?.left).toBe(true)
  })

  test('is let go of where the reply was cut', async () => {
    const refusing = model((asked) =>
      asked.messages.length > 1 ? endless(status) : { text: 'Half a', reason: 'length' },
    )
    await using at = await standWith(refusing, { profile: { continuation: { max: 1 } } })
    expect((await postChat(at.url, chatOf(short))).text).toContain('Half a')
    await expect.poll(() => at.upstream.requests[1]?.left).toBe(true)
  })
})

// That the detour's refusal said nothing of usage was held against usage: the next request of the same reply went without,
// and its success taught that the server refuses to state usage in streams, for an hour.
test('a detour that is refused without a reason teaches nothing of usage', async () => {
  const small = { window: { tokens: 4_000 }, recall: { enabled: true } }
  const refused = json({ error: { message: 'Bad request.' } }, 400)
  await using at = await standWith(detouring(refused), { profile: small })
  const long = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${'reads rows and writes them. '.repeat(40)}`,
  }))
  const asked = chatOf([...long, ...short], { tools: [bash], stream: true })
  for (const _ of [1, 2]) expect((await postChat(at.url, asked)).text).toContain('"stop"')
  const sent = at.upstream.requests.map(({ body }): Asked => JSON.parse(body.toString()))
  expect(sent.length).toBeGreaterThanOrEqual(6)
  expect(sent[0]?.messages.length).toBeLessThan(long.length)
  expect(sent.filter((each) => each.stream_options === undefined)).toEqual([])
})
