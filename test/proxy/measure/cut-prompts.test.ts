import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import {
  cutWarnings,
  newestWithin,
  reporting,
  textsIn,
  words,
  withoutThoughts,
  wordsOf,
  type CountTexts,
  type Usage,
} from '../../support/counting-server.ts'
import { completion, json, type Script } from '../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { chatOf, postChat } from '../post-chat.ts'

type Turn = { readonly user: string; readonly assistant?: string }

/** Sends a chat turn by turn; returns the window that stood in each answer's header. */
async function chatThrough(stand: Stand, turns: readonly Turn[]): Promise<readonly string[]> {
  const messages: TestMessage[] = [{ role: 'system', content: 'Be brief.' }]
  const windows: string[] = []
  for (const { user, assistant } of turns) {
    messages.push({ role: 'user', content: user })
    const reply = await postChat(stand.url, chatOf(messages))
    windows.push(reply.header('x-foldgate-window') ?? '')
    messages.push({ role: 'assistant', content: assistant ?? 'Understood.' })
  }
  return windows
}

const evenTurns = (count: number, size: number): readonly Turn[] =>
  Array.from({ length: count }, (_, index) => ({ user: words(size, index) }))

const large = { window: { tokens: 32_768 } }

/** What stands in a request beyond the one before it and the reply to that one. */
function uncached(block: number) {
  let before = 0
  return (texts: readonly string[]): number => {
    const whole = wordsOf(texts)
    const cached = Math.floor((before === 0 ? 0 : before + 5) / block) * block
    before = whole
    return whole - cached
  }
}

/** A cached half that is stated beside the prompt, as Anthropic does. */
const halfCached = (texts: readonly string[]): Usage => {
  const cached = Math.floor(wordsOf(texts) * 0.45)
  return { prompt_tokens: wordsOf(texts) - cached, cache_read_input_tokens: cached }
}

const statesLoaded: Script = (received, outgoing, incoming) => {
  const list = { data: [{ id: 'test-model', owned_by: 'vllm', max_model_len: 60_000 }] }
  const answer = received.url === '/v1/models' ? json(list) : json({}, 404)
  return answer(received, outgoing, incoming)
}

describe('a server that cuts prompts without a word is noticed', () => {
  const windowTokens = 4096
  /** The first request, counted from 1, of which more than a trace was cut, and the first under another window. */
  async function noticed(
    count: (texts: readonly string[]) => number,
    turns: readonly Turn[],
    profile: object,
  ): Promise<{ cutAt: number; noticedAt: number; window: string }> {
    let cutAt = 0
    let requests = 0
    const script = reporting((texts) => {
      requests += 1
      if (cutAt === 0 && wordsOf(texts) > windowTokens * 1.03) cutAt = requests
      return count(texts)
    })
    await using stand = await standWith(script, { profile })
    const windows = await chatThrough(stand, turns)
    const noticedAt = windows.findIndex((window) => window.endsWith('learnt')) + 1
    expect(cutWarnings(stand)).toHaveLength(1)
    return { cutAt, noticedAt, window: windows.at(-1) ?? '' }
  }

  test.each([
    ['keeps the newest', newestWithin(windowTokens)],
    ['cuts to its size', (texts: readonly string[]) => Math.min(wordsOf(texts), windowTokens)],
    ['cuts to one less', (texts: readonly string[]) => Math.min(wordsOf(texts), windowTokens - 1)],
  ])('within two requests, where each adds a little: %s', async (_how, count) => {
    // Neither of these requests had to be counted, so nothing was known of the one before: 26 of them were cut.
    const { cutAt, noticedAt, window } = await noticed(count, evenTurns(30, 220), large)
    expect(cutAt).toBeGreaterThan(10)
    expect(noticedAt - cutAt).toBeLessThanOrEqual(2)
    expect(window).toBe('4096;source=learnt')
  })

  test('within two requests, where each adds much', async () => {
    const { cutAt, noticedAt } = await noticed(newestWithin(windowTokens), evenTurns(8, 1700), large)
    expect(noticedAt - cutAt).toBeLessThanOrEqual(2)
  })

  test.each([
    ['keeps the newest', newestWithin(windowTokens)],
    ['cuts to its size', (texts: readonly string[]) => Math.min(wordsOf(texts), windowTokens)],
  ])('within two requests, where the first is far too large: %s', async (_how, count) => {
    const turns = [{ user: words(12_000) }, ...evenTurns(5, 200)]
    const { noticedAt } = await noticed(count, turns, large)
    expect(noticedAt).toBeLessThanOrEqual(3)
  })

  test('within a few requests, where all but a few words went with the first message', async () => {
    // What was left was far below any window, and looked like a report of what had been added alone. It was never noticed.
    const messages: TestMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: words(12_000) },
      { role: 'assistant', content: 'Understood.' },
    ]
    await using stand = await standWith(reporting(newestWithin(windowTokens)), { profile: large })
    const windows: (string | null)[] = []
    for (let turn = 0; turn < 5; turn += 1) {
      messages.push({ role: 'user', content: words(150, turn) })
      const reply = await postChat(stand.url, chatOf(messages))
      windows.push(reply.header('x-foldgate-window'))
      messages.push({ role: 'assistant', content: 'Understood.' })
    }
    expect(windows.findIndex((window) => window?.endsWith('learnt'))).toBeGreaterThan(0)
  })

  test('at once, where the first message went and each of the others is next to nothing', async () => {
    const turns = [{ user: words(3900) }, ...evenTurns(16, 50)]
    const { noticedAt } = await noticed(newestWithin(windowTokens), turns, large)
    // The fifth request is the first that is cut.
    expect(noticedAt).toBe(6)
  })
})

describe('what is no cut is not taken for one', () => {
  const honestTurns = evenTurns(30, 300)
  const profile = { window: { tokens: 200_000 } }

  /** Half of each reply are thoughts, which the server's template drops. */
  const withThoughts: readonly Turn[] = honestTurns.map(({ user }, index) => ({
    user,
    assistant: `<think>${words(600, index)}</think>Understood.`,
  }))
  test.each<[string, CountTexts, readonly Turn[]]>([
    ['thoughts in the text that a template drops', withoutThoughts, withThoughts],
    ['a report of the uncached part alone', uncached(1), honestTurns],
    ['a report of the uncached part, by blocks', uncached(128), honestTurns],
    ['a prompt of which half was cached', halfCached, honestTurns],
    ['the same number again and again', () => 1234, honestTurns],
    ['the same large number again and again', () => 4000, [{ user: words(9000) }, ...honestTurns]],
    ['small numbers', (texts) => 100 + (texts.length % 7), honestTurns],
    ['a tokenizer that takes a third less', (texts) => Math.round(wordsOf(texts) * 0.7), honestTurns],
  ])('%s', async (_what, count, turns) => {
    await using stand = await standWith(reporting(count), { profile })
    const windows = await chatThrough(stand, turns)
    expect(new Set(windows)).toEqual(new Set(['200000;source=config']))
    expect(cutWarnings(stand)).toEqual([])
  })

  test('a router that answers with another model now and then', async () => {
    // A model with a terser tokenizer, one answer in 24, gave all a window of 41,101.
    let requests = 0
    const router: Script = (received, outgoing, incoming) => {
      requests += 1
      const [model, ratio] = requests % 8 === 0 ? ['gpt-4o', 1] : ['claude-sonnet-4-5', 1.45]
      const promptTokens = Math.round(wordsOf(textsIn(received)) * ratio)
      return completion('Understood.', { prompt_tokens: promptTokens }, model)(received, outgoing, incoming)
    }
    await using stand = await standWith(router, { profile })
    const windows = await chatThrough(stand, honestTurns)
    expect(new Set(windows)).toEqual(new Set(['200000;source=config']))
  })

  test('a count that nobody can explain, from a server that says what it has loaded', async () => {
    // A tokenizer of one token a digit made prose look cut, against 60,000 that the server itself had stated.
    const third = reporting((texts) => Math.round(wordsOf(texts) * 0.4))
    await using stand = await standWith(third, { onQuestion: statesLoaded })
    const windows = await chatThrough(stand, [{ user: words(20_000) }, ...evenTurns(10, 300)])
    expect(new Set(windows)).toEqual(new Set(['60000;source=server']))
  })

  test('anything, where a refusal has stated the window', async () => {
    const refused = json(
      {
        error: {
          message: "This model's maximum context length is 65536 tokens.",
          code: 'context_length_exceeded',
        },
      },
      400,
    )
    const odd = reporting((texts) => Math.round(wordsOf(texts) * 0.3))
    await using stand = await standWith([refused, odd])
    const windows = await chatThrough(stand, [{ user: words(3000) }, ...evenTurns(10, 1000)])
    expect(new Set(windows.slice(1))).toEqual(new Set(['65536;source=learnt']))
  })
})
