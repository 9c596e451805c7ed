import { describe, expect, test } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import { completion, json, windowedAt, type Script } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'
import { eventually, passingTime } from '../../support/eventually.ts'

const small = chatOf([{ role: 'user', content: 'hello' }])

/** Answers each path with its own JSON, every other with 404. */
const paths =
  (answers: Readonly<Record<string, unknown>>): Script =>
  (request) => {
    const path = request.url.split('?')[0] ?? ''
    return path in answers ? json(answers[path]) : json({ error: 'unknown path' }, 404)
  }

const vllm = (windows: Readonly<Record<string, number>>): Script =>
  paths({
    '/v1/models': {
      object: 'list',
      data: Object.entries(windows).map(([id, max]) => ({ id, owned_by: 'vllm', max_model_len: max })),
    },
  })

const windowed = windowedAt(8192)

describe('the window of a model that no table lists is its server’s to say', () => {
  // Each of several first requests kept what it heard for itself, and only the one that had asked heard anything.
  test('all of several first requests get what the server of the first one states', async () => {
    const llama = paths({ '/props': { default_generation_settings: { n_ctx: 8192 } } })
    await using stand = await standWith(completion('hi'), { onQuestion: llama })
    const all = await Promise.all([1, 2, 3].map(async () => postChat(stand.url, small)))
    expect(all.map((answer) => answer.header('x-foldgate-window'))).toEqual(
      Array(3).fill('8192;source=server'),
    )
  })

  test('an alias is found under the name that answered', async () => {
    await using stand = await standWith(completion('hi'), { onQuestion: vllm({ 'fake-model': 16_384 }) })
    await postChat(stand.url, small)
    await eventually(async () => {
      const answer = await postChat(stand.url, small)
      expect(answer.header('x-foldgate-window')).toBe('16384;source=server')
    })
  })
})

/** Has this window, says so, and refuses what exceeds it. */
function restartable(windowTokens: number) {
  const state = { windowTokens }
  const script: Script = () =>
    windowedAt(state.windowTokens, (tokens) => completion('fine', { prompt_tokens: tokens }))
  const onQuestion: Script = () => vllm({ 'test-model': state.windowTokens })
  return { state, script, onQuestion }
}

const windowsOf = async (stand: { readonly url: string }, requests: number): Promise<readonly string[]> => {
  const windows: string[] = []
  for (let request = 0; request < requests; request += 1)
    windows.push((await postChat(stand.url, small)).header('x-foldgate-window') ?? '')
  return windows
}

/** Refuses what exceeds 8,192 tokens of four bytes, and says nothing of that. */
const unstated = windowedAt(
  8192,
  () => completion('fine'),
  json({ error: { message: 'Prompt exceeds max length', code: '1261' } }, 400),
)

describe('what a server states is asked again', () => {
  const run = chatOf(longRun(26, 2))
  // A server that was started anew with 30,000 instead of 12,000 was folded at 12,000 ten minutes later; and, where the
  // clock had been an hour ahead until it was corrected, for that hour, whatever it refused.
  test.each([
    ['', 61_000],
    [', though the clock was set back', -3_600_000],
  ])('after a minute: one that was started anew with more is filled again%s', async (_, clockMs) => {
    const pass = passingTime()
    let nowMs = Date.now()
    const { state, script, onQuestion } = restartable(12_000)
    await using stand = await standWith(script, { onQuestion, nowMs: () => nowMs })
    expect((await postChat(stand.url, run)).header('x-foldgate-window')).toBe('12000;source=server')
    state.windowTokens = 30_000
    nowMs += clockMs
    pass(61_000)
    await eventually(async () => {
      expect(await windowsOf(stand, 1)).toEqual(['30000;source=server'])
    })
    // Whatever lies behind a new conversation's beginning was never folded.
    const other = chatOf(longRun(26, 9))
    const reply = await postChat(stand.url, other)
    expect(reply.action).toBe('relayed')
    expect(stand.upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify(other))
  })

  test('when a refusal contradicts it, whose own numbers hold until then', async () => {
    const pass = passingTime()
    let nowMs = Date.now()
    const { state, script, onQuestion } = restartable(30_000)
    await using stand = await standWith(script, { onQuestion, nowMs: () => nowMs })
    expect(await windowsOf(stand, 1)).toEqual(['30000;source=server'])
    state.windowTokens = 8192
    const reply = await postChat(stand.url, run)
    expect(reply.action).toBe('recovered')
    await eventually(async () => {
      expect(await windowsOf(stand, 1)).toEqual(['8192;source=server'])
    })
    // Started anew with more once again, it is not held to that refusal for an hour.
    state.windowTokens = 30_000
    nowMs += 61_000
    pass(61_000)
    await eventually(async () => {
      expect(await windowsOf(stand, 1)).toEqual(['30000;source=server'])
    })
  })

  test('when a prompt beyond it was answered', async () => {
    let nowMs = Date.now()
    const { state, script, onQuestion } = restartable(6000)
    const profile = { trigger: 'off' }
    await using stand = await standWith(script, { onQuestion, profile, nowMs: () => nowMs })
    expect(await windowsOf(stand, 1)).toEqual(['6000;source=server'])
    state.windowTokens = 30_000
    nowMs += 10_000
    await postChat(stand.url, run)
    await eventually(async () => {
      expect(await windowsOf(stand, 1)).toEqual(['30000;source=server'])
    })
  })
})

describe('the operator’s window', () => {
  test('is overruled by what a refusal says of itself, which header and log tell', async () => {
    const profile = { window: { tokens: 32_000 } }
    await using stand = await standWith(windowed, { profile })
    expect((await postChat(stand.url, chatOf(longRun(20, 2)))).action).toBe('recovered')
    const later = await postChat(stand.url, small)
    expect(later.header('x-foldgate-window')).toBe('8192;source=learnt;setting=32000')
    const told = stand.foldgate.log.filter((line) => line.includes('set window.tokens to that'))
    expect(told).toHaveLength(1)
    expect(JSON.parse(told[0] ?? '')).toMatchObject({
      profile: 'default',
      stated_tokens: 8192,
      window_tokens: 32_000,
    })
  })

  test('is lowered by nothing that is only inferred: each refusal without numbers costs a request, and no conversation', async () => {
    await using stand = await standWith(unstated, { profile: { window: { tokens: 32_000 } } })
    for (const seed of [2, 3, 4]) {
      const reply = await postChat(stand.url, chatOf(longRun(20, seed)))
      expect(reply.action).toBe('recovered')
      expect(reply.header('x-foldgate-window')).toBe('32000;source=config')
    }
    expect((await postChat(stand.url, small)).header('x-foldgate-window')).toBe('32000;source=config')
  })
})

const hello = chatOf([{ role: 'user', content: 'hello' }])

const onlyAt =
  (path: string, answer: object): Script =>
  (request) =>
    request.url === path ? json(answer) : json({}, 404)

// A name that is too long stands in records and logs by a digest, and servers were asked about that digest.
test('names that are longer than any model’s are asked about by nobody', async () => {
  await using stand = await standWith(completion('hi'))
  expect((await postChat(stand.url, { ...hello, model: 'x'.repeat(2_000) })).status).toBe(200)
  expect(stand.upstream.questions).toEqual([])
})

// TGI takes 3,072 tokens of prompt and 4,096 in all. Only the second was known, so that a request for a short reply
// went out with a prompt of 3,996 tokens and was refused.
describe('of two limits, the one that leaves the prompt less binds', () => {
  const tgi = { onQuestion: onlyAt('/info', { max_input_tokens: 3072, max_total_tokens: 4096 }) }

  test.each([
    [100, '3072;source=server'],
    [1024, '4096;source=server'],
    [2000, '4096;source=server'],
  ])('a reply of %i tokens: %s', async (maxTokens, window) => {
    await using stand = await standWith(completion('hi'), tgi)
    const answer = await postChat(stand.url, { ...hello, max_tokens: maxTokens })
    expect(answer.header('x-foldgate-window')).toBe(window)
  })
})

// The past was derived with 3,000 tokens of prompt by one replica and with 2,816 by another: one limit left the prompt
// more than the server takes, the other less, and the whole conversation moved with it.
test.each([
  ['where results were cleared', 19, {}],
  ['where rounds were folded', 18, { clear: { enabled: false } }],
])(
  'a limit that is a few tokens higher moves nothing that lies in the past, %s',
  async (_, most, profile) => {
    const tgi = { onQuestion: onlyAt('/info', { max_input_tokens: 3000, max_total_tokens: 4096 }) }
    const run = longRun(8, 1)
    const sentWith = async (maxTokens: number) => {
      await using stand = await standWith(completion('hi'), { ...tgi, profile })
      await postChat(stand.url, { ...chatOf(run), max_tokens: maxTokens })
      return rawMessages(stand.upstream.requests[0])
    }
    const sent = await sentWith(1090)
    expect(sent.join('').length).toBeLessThan(JSON.stringify(run).length / 2)
    expect(run).toHaveLength(19)
    expect(sent.length).toBeLessThanOrEqual(most)
    expect(await sentWith(1100)).toEqual(sent)
  },
)
