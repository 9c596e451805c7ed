import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import {
  cutWarnings,
  newestWithin,
  ollama,
  reporting,
  textsIn,
  words,
  wordsOf,
  type CountTexts,
} from '../../support/counting-server.ts'
import { completion, json, type Script } from '../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'

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

/** It exposes nothing but its `/v1`, so that it cannot be asked; and each prompt is counted. */
const counted = { every: { turns: 1000, tool_calls: 0 } }

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

const statesLoaded: Script = (received) => {
  const list = { data: [{ id: 'test-model', owned_by: 'vllm', max_model_len: 60_000 }] }
  return received.url === '/v1/models' ? json(list) : json({}, 404)
}

/** How many prompts came out cut, and the window in the end. */
async function cutBy(
  windowTokens: number,
  count: (texts: readonly string[]) => number,
  turns: readonly Turn[],
): Promise<{ cuts: number; window: number }> {
  let cuts = 0
  const script = ollama((texts) => {
    if (wordsOf(texts) > windowTokens * 1.03) cuts += 1
    return count(texts)
  })
  await using stand = await standWith(script, { profile: counted })
  const windows = await chatThrough(stand, turns)
  expect(cutWarnings(stand)).toHaveLength(1)
  expect(windows.at(-1)).toMatch(/;source=learnt$/)
  return { cuts, window: Number.parseInt(windows.at(-1) ?? '', 10) }
}

const toSize = (windowTokens: number) => (texts: readonly string[]) => Math.min(wordsOf(texts), windowTokens)

describe('an Ollama that cuts prompts, and cannot be asked for its window, is noticed', () => {
  test.each([
    ['keeps the newest of many small ones', 4096, newestWithin(4096), evenTurns(24, 220)],
    ['cuts to its size', 4096, toSize(4096), evenTurns(24, 220)],
    ['has a window of an odd size', 6000, newestWithin(6000), evenTurns(26, 310)],
    ['keeps the newest of a few large ones', 4096, newestWithin(4096), evenTurns(8, 1300)],
    [
      'gets a first message that is far too large',
      4096,
      newestWithin(4096),
      [{ user: words(12_000) }, ...evenTurns(8, 200)],
    ],
    [
      'drops the first message and little else',
      8192,
      newestWithin(8192),
      [{ user: words(7900) }, ...evenTurns(10, 150)],
    ],
  ])('within three cut prompts, if it %s', async (_how, windowTokens, count, turns) => {
    const { cuts, window } = await cutBy(windowTokens, count, turns)
    expect(cuts).toBeLessThanOrEqual(3)
    expect(window).toBeLessThanOrEqual(windowTokens)
    expect(window).toBeGreaterThanOrEqual(windowTokens * 0.85)
  })

  test('but the operator’s window stays what it is, and the warning says which setting helps', async () => {
    const profile = { ...counted, window: { tokens: 32_768 } }
    await using stand = await standWith(ollama(newestWithin(4096)), { profile })
    const windows = await chatThrough(stand, evenTurns(24, 220))
    expect(new Set(windows)).toEqual(new Set(['32768;source=config']))
    expect(cutWarnings(stand).join()).toContain('set window.tokens')
    expect(stand.upstream.questions).toEqual([])
  })
})

test('a server of which nothing says that it cuts gets a warning at most, and keeps its window', async () => {
  // Nothing tells its reports from those of a server that counts in a way of its own.
  await using stand = await standWith(reporting(newestWithin(4096)), { profile: counted })
  const windows = await chatThrough(stand, evenTurns(24, 220))
  expect(new Set(windows)).toEqual(new Set(['128000;source=default']))
  expect(cutWarnings(stand)).toEqual([])
  const capped = reporting((texts) => Math.min(wordsOf(texts), 4096))
  await using other = await standWith(capped, { profile: counted })
  expect(new Set(await chatThrough(other, evenTurns(24, 220)))).toEqual(new Set(['128000;source=default']))
  expect(cutWarnings(other, 'suspected')).toHaveLength(1)
})

describe('what is no cut is not taken for one', () => {
  const honestTurns = evenTurns(16, 300)
  const profile = { window: { tokens: 200_000 } }

  test.each<[string, CountTexts, readonly Turn[]]>([
    ['a report of the uncached part, by blocks', uncached(128), honestTurns],
    ['the same large number again and again', () => 4000, [{ user: words(9000) }, ...honestTurns]],
    ['small numbers', (texts) => 100 + (texts.length % 7), honestTurns],
  ])('%s', async (_what, count, turns) => {
    await using stand = await standWith(reporting(count), { profile })
    const windows = await chatThrough(stand, turns)
    expect(new Set(windows)).toEqual(new Set(['200000;source=config']))
    expect(cutWarnings(stand)).toEqual([])
  })

  test('a router that answers with another model now and then', async () => {
    // A model with a terser tokenizer, one answer in 24, gave all a window of 41,101.
    let requests = 0
    const router: Script = (received) => {
      requests += 1
      const [model, ratio] = requests % 8 === 0 ? ['gpt-4o', 1] : ['claude-sonnet-4-5', 1.45]
      const promptTokens = Math.round(wordsOf(textsIn(received)) * ratio)
      return completion('Understood.', { prompt_tokens: promptTokens }, model)
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

  test('nor is a refusal that states a window twenty times the prompt', async () => {
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
    expect(new Set(windows.slice(1))).toEqual(new Set(['128000;source=default']))
  })
})
