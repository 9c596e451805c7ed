import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, objectsOf } from '../../../src/json/json-value.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { fakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { plainAnswer, streamOf } from '../../formats/ollama/reply/streamed.ts'
import {
  bodyOf,
  chatBody,
  chatsAt,
  openStand,
  post,
  replyIn,
  roundsOf,
  user,
  WINDOW_TOKENS,
} from './stand.ts'

/** Past a window of 4,096 by half; the fact stands in its first result alone. */
const FACT = 'The vault opens with plum-granite-77.'
const [first, call, result, ...others] = [user('Read every part.'), ...roundsOf(10)]
const long = [
  first,
  call,
  { ...result, content: `ok\n${FACT}\n${String(result?.['content'])}` },
  ...others,
].filter(isJsonObject)

const messagesIn = (body: JsonObject) => objectsOf(body['messages'])
const lastIn = (body: JsonObject) => messagesIn(body).at(-1) ?? {}

describe.each([
  ['plain', { stream: false }],
  ['streamed', {}],
])('%s', (_, form) => {
  test('what was folded is read back, and the client gets one answer without a sign of it', async () => {
    const stand = await openStand({
      profile: { recall: { enabled: true } },
      reply: ({ body }) => {
        const { role, content } = lastIn(body)
        const isAnswered = role === 'tool' && lastIn(body)['tool_name'] === 'recall_conversation'
        if (!isAnswered)
          return {
            content: 'One moment.',
            thinking: 'I look.',
            calls: [{ name: 'recall_conversation', given: { search: 'vault opens' } }],
          }
        const found = /vault opens with ([\w-]+)/.exec(String(content))?.[1]
        return { content: found === undefined ? 'I do not know.' : `With ${found}.` }
      },
    })
    const answer = await post(stand, chatBody([...long, user('How does the vault open?')], form))
    const reply = replyIn(answer)
    expect(reply).toMatchObject({
      message: { content: 'One moment.\n\nWith plum-granite-77.', thinking: 'I look.' },
      done_reason: 'stop',
    })
    expect(answer.text).not.toMatch(/recall|tool_calls/)
    const [asked, further, ...more] = chatsAt(stand)
    expect(more).toEqual([])
    expect(JSON.stringify(asked && bodyOf(asked))).not.toContain('plum-granite-77')
    expect(messagesIn(further ? bodyOf(further) : {}).slice(-2)).toMatchObject([
      {
        role: 'assistant',
        content: 'One moment.',
        thinking: 'I look.',
        tool_calls: [{ function: { name: 'recall_conversation', arguments: { search: 'vault opens' } } }],
      },
      { role: 'tool', tool_name: 'recall_conversation' },
    ])
    const counts = chatsAt(stand).map(({ evaluatedTokens }) => evaluatedTokens)
    expect(reply['prompt_eval_count']).toBe(counts.reduce((sum, count) => sum + count, 0))
  })

  test('a reply that its limit cut is gone on with, and is one', async () => {
    const words = 'It was a dark and stormy night, and the rain fell in torrents.'
    const stand = await openStand({
      profile: { continuation: { max: 2 } },
      reply: ({ body }) =>
        messagesIn(body).length === 1
          ? { content: words.slice(0, 30), isCut: true }
          : { content: words.slice(30) },
    })
    const options = { num_ctx: WINDOW_TOKENS, num_predict: 8 }
    const answer = await post(stand, chatBody([user('Begin.')], { ...form, options }))
    expect(replyIn(answer)).toMatchObject({ message: { content: words }, done_reason: 'stop' })
    expect(chatsAt(stand).map(bodyOf)).toMatchObject([{ options }, { options }])
  })

  // Some refuse in the first line of a stream that has begun.
  test('an error where an answer should be, with status 200, is recovered from', async () => {
    let asks = 0
    const script: Script = (request, outgoing) => {
      const isStream = !request.body.includes('"stream":false')
      const error = '{"error":"the input length exceeds the context length"}\n'
      const said = isStream
        ? streamOf([{ content: 'Done.' }]).join('')
        : JSON.stringify(plainAnswer({ content: 'Done.' }, 'stop'))
      asks += 1
      outgoing.writeHead(200, { 'content-type': isStream ? 'application/x-ndjson' : 'application/json' })
      outgoing.end(asks === 1 ? error : said)
    }
    await using upstream = await fakeUpstream(script)
    const foldgate = await startFoldgate({ upstream: upstream.url })
    const answer = await post({ foldgate }, chatBody([user('Read every part.'), ...roundsOf(4)], form))
    await foldgate.close()
    expect(replyIn(answer)).toMatchObject({ message: { content: 'Done.' }, done: true })
    expect(answer.headers.get('x-foldgate-action')).toMatch(/^recovered/)
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/api/chat', '/api/chat'])
  })
})

/** The agent asks for streams. */
const isSummary = (body: JsonObject): boolean => body['stream'] === false

// The server compares all options that a model is loaded with: one that came without its `num_gpu` had it loaded anew, and the
// client's next request once more.
test('a summary is asked of the model as it is loaded: with the same options, plainly, and refused if it does not fit', async () => {
  const stand = await openStand({
    profile: { strategy: 'summarize', summary: { wait_ms: 10_000 } },
    reply: ({ body }) => ({
      content: isSummary(body)
        ? '## Task\nRead every part.\n## State\nThe parts up to the newest were read, and each said that the quick brown fox jumps over the dog.'
        : 'I go on.',
    }),
  })
  const conversation = [...long]
  let summary = ''
  for (let turn = 0; turn < 12 && summary !== 'ready'; turn += 1) {
    const loaded = { num_ctx: WINDOW_TOKENS, num_gpu: 20, num_predict: 700 }
    const answer = await post(stand, chatBody(conversation, { options: loaded }))
    expect(answer.status).toBe(200)
    summary = answer.headers.get('x-foldgate-summary') ?? ''
    conversation.push({ role: 'assistant', content: 'I go on.' }, user(`Go on with part ${turn}.`))
    conversation.push(...roundsOf(1, 20 + turn))
    const sent = () => chatsAt(stand).map(bodyOf).some(isSummary)
    if (summary === 'pending') await expect.poll(sent).toBe(true)
  }
  expect(summary).toBe('ready')
  const all = chatsAt(stand)
  expect(all.flatMap(({ rejected }) => rejected ?? [])).toEqual([])
  const summaries = all.map(bodyOf).filter(isSummary)
  expect(summaries.length).toBeGreaterThan(0)
  for (const body of summaries) {
    const options = { num_ctx: WINDOW_TOKENS, num_gpu: 20, num_predict: expect.any(Number) }
    expect(body).toMatchObject({ model: 'llama3.2', truncate: false, shift: false, options })
  }
  expect(all.at(-1)?.body.toString()).toContain('<conversation-summary>')
})
