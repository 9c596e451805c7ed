import { describe, expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import {
  cutWarnings,
  newestWithin,
  ollama,
  reporting,
  round,
  words,
  withoutThoughts,
  wordsOf,
  type CountTexts,
} from '../../support/counting-server.ts'
import { json, type ReceivedRequest, type Script } from '../../support/fake-upstream.ts'
import { png } from '../../support/images.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { chatOf, postChat, type ChatReply } from '../../support/post-chat.ts'

// Every story in here was a window that shrank for an hour, on a server that had counted honestly or cut nothing.

const begin = (system: string, user: string): TestMessage[] => [
  { role: 'system', content: system },
  { role: 'user', content: user },
]

/** Sends a conversation of tool rounds; the window that stood in each answer. */
async function runRounds(
  stand: Stand,
  messages: TestMessage[],
  results: readonly string[],
): Promise<string[]> {
  const windows: string[] = []
  for (const [index, result] of results.entries()) {
    const reply = await postChat(stand.url, chatOf(messages))
    windows.push(reply.header('x-foldgate-window') ?? '')
    messages.push(...round(index, result))
  }
  return windows
}

const results = (count: number, size: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => words(size, index))

/** The windows that were learnt, and the warnings of it. */
const learntIn = (stand: Stand, windows: readonly string[]) => ({
  windows: windows.filter((window) => window.endsWith('learnt')),
  warnings: cutWarnings(stand),
})
const nothing = { windows: [], warnings: [] }

const windowOf = (tokens: number) => ({ profile: { window: { tokens } } })

const { count } = await loadCounter('o200k_base')
/** As a model counts that has the encoding we count in. */
const exactly: CountTexts = (texts) => texts.reduce((sum, text) => sum + count(text) + 4, 0)

const toolTokens = (received: ReceivedRequest): number => (received.body.includes('"tools"') ? 6000 : 0)
const withTools: CountTexts = (texts, received) => wordsOf(texts) + toolTokens(received)

const withPictures: CountTexts = (texts, received) =>
  wordsOf(texts) + (received.body.toString('latin1').split('"image_url":{').length - 1) * 765

/** Sixteen of a drawn line are one token. */
const withSparseLines: CountTexts = (texts) =>
  wordsOf(texts.map((text) => text.replace(/─+/g, (line) => words(Math.ceil(line.length / 16)))))

/** A cache of the last prompts: what a new one shares with any of them, message by message, is not counted. */
function caching(slots: number) {
  let kept: (readonly string[])[] = []
  return (texts: readonly string[]): number => {
    const shared = Math.max(0, ...kept.map((each) => texts.findIndex((text, index) => text !== each[index])))
    kept = [...kept, [...texts, 'Understood.']].slice(-slots)
    return wordsOf(texts.slice(Math.max(0, shared)))
  }
}

describe('a server that counts honestly', () => {
  test('two agents in small rounds, under one key and model', async () => {
    await using stand = await standWith(reporting(wordsOf), windowOf(60_000))
    const one = begin('Be brief.', words(12_000))
    const other = begin('Find bugs.', words(9000, 3))
    const windows: string[] = []
    for (let index = 1; index <= 12; index += 1) {
      for (const messages of [one, other]) {
        const reply = await postChat(stand.url, chatOf(messages))
        windows.push(reply.header('x-foldgate-window') ?? '')
        messages.push(...round(index, `f${index}.ts`))
      }
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('a long run with compactions in between', async () => {
    await using stand = await standWith(reporting(exactly), windowOf(6_000))
    const run = longRun(24, 5, 0.5)
    const windows: string[] = []
    for (const [index, { role }] of run.entries()) {
      if (role !== 'assistant') continue
      const reply = await postChat(stand.url, chatOf(run.slice(0, index)))
      windows.push(reply.header('x-foldgate-window') ?? '')
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('a result of few tokens for its bytes, and the same request again', async () => {
    await using stand = await standWith(reporting(withSparseLines), windowOf(60_000))
    const messages = begin('Be brief.', words(12_000))
    const windows = await runRounds(stand, messages, ['─'.repeat(14_000)])
    for (let again = 0; again < 3; again += 1) windows.push(...(await runRounds(stand, [...messages], [''])))
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('a request without the tools of the one before', async () => {
    await using stand = await standWith(reporting(withTools), windowOf(60_000))
    const tools = Array.from({ length: 40 }, (_, index) => ({
      type: 'function',
      function: { name: `tool_${index}`, description: words(140, index), parameters: { type: 'object' } },
    }))
    const messages = begin('Be brief.', words(2000))
    const replies: ChatReply[] = []
    for (let index = 1; index <= 8; index += 1) {
      replies.push(await postChat(stand.url, chatOf(messages, { tools })))
      messages.push(...round(index, words(600, index)))
    }
    messages.push({ role: 'user', content: 'Sum up what you did.' })
    replies.push(await postChat(stand.url, chatOf(messages)))
    replies.push(await postChat(stand.url, chatOf(messages, { tools })))
    const windows = replies.map((reply) => reply.header('x-foldgate-window') ?? '')
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('a title that is asked for beside the conversation, under another system message', async () => {
    await using stand = await standWith(reporting(wordsOf), windowOf(32_000))
    const windows: string[] = []
    for (let session = 0; session < 3; session += 1) {
      const first = `Session ${session}: ${words(6000 + session * 437, session)}`
      for (const system of [words(9000 + session * 30), 'You name conversations. Be brief.']) {
        windows.push(...(await runRounds(stand, begin(system, first), [''])))
      }
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('long thoughts behind a long prompt, which the template drops', async () => {
    await using stand = await standWith(reporting(withoutThoughts), windowOf(60_000))
    const messages = begin('Be brief.', words(12_000))
    const windows: string[] = []
    for (const size of [6000, 100, 100]) {
      const reply = await postChat(stand.url, chatOf(messages))
      windows.push(reply.header('x-foldgate-window') ?? '')
      messages.push({ role: 'assistant', content: `<think>${words(size, 3)}</think>Understood.` })
      messages.push({ role: 'user', content: words(50) })
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('screenshots, of which most are folded', async () => {
    // The bytes of all pictures of the conversation were taken from those of a view that held none of them.
    await using stand = await standWith(reporting(withPictures), windowOf(16_000))
    const shot = Buffer.concat([png(1024, 768), Buffer.alloc(60_000)]).toString('base64')
    const messages = begin('Be brief.', `Book a flight. ${words(100)}`)
    const windows: string[] = []
    for (let index = 1; index <= 16; index += 1) {
      const reply = await postChat(stand.url, { model: 'gpt-4o', messages })
      windows.push(reply.header('x-foldgate-window') ?? '')
      messages.push({ role: 'assistant', content: `I click at ${index}. ${words(30, index)}` })
      const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${shot}` } }
      messages.push({
        role: 'user',
        content: [{ type: 'text', text: `The screen now. ${words(40)}` }, picture],
      })
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })
})

describe('a server that reports only what it had not cached', () => {
  test('to two agents in turns, on one slot', async () => {
    await using stand = await standWith(reporting(caching(1)), windowOf(60_000))
    const one = begin('Be brief.', words(12_000))
    const other = begin('Find bugs.', words(11_000, 3))
    const windows: string[] = []
    for (const messages of [one, one, other, other, one, one, one]) {
      windows.push(...(await runRounds(stand, messages, [words(300, windows.length)])))
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })

  test('to new chats under one long system message', async () => {
    await using stand = await standWith(reporting(caching(100)), windowOf(60_000))
    const windows: string[] = []
    for (let chat = 0; chat < 5; chat += 1) {
      const messages = begin(words(10_000), `Chat ${chat} ${words(300 + 200 * chat, chat)}`)
      windows.push(...(await runRounds(stand, messages, results(2, 300))))
    }
    expect(learntIn(stand, windows)).toEqual(nothing)
  })
})

describe('a server that does cut', () => {
  test('is noticed beside an agent whose prompts are small, and has a window that can be', async () => {
    // The doubts of two conversations confirmed each other: 412 tokens.
    const profile = { every: { turns: 1000, tool_calls: 0 } }
    await using stand = await standWith(ollama(newestWithin(4096)), { profile })
    const large = begin('Be brief.', words(300))
    const small = begin('Find bugs.', words(30, 3))
    const windows: string[] = []
    for (let index = 0; index < 26; index += 1) {
      windows.push(...(await runRounds(stand, large, [words(220, index)])))
      await runRounds(stand, small, [words(5, index)])
    }
    expect(windows.at(-1)).toBe('4096;source=learnt')
    expect(cutWarnings(stand)).toHaveLength(1)
  })

  test('is noticed although it had said, some time before, that it has loaded more', async () => {
    // Ollama was started anew with a smaller context: nine of nine prompts were cut.
    let loadedTokens = 32_768
    const onQuestion: Script = (received) => {
      const answers: Readonly<Record<string, object>> = {
        '/v1/models': { data: [{ id: 'test-model', object: 'model', owned_by: 'library' }] },
        '/api/ps': { models: [{ name: 'test-model', model: 'test-model', context_length: loadedTokens }] },
      }
      const answer = answers[received.url.split('?')[0] ?? '']
      return answer === undefined ? json({}, 404) : json(answer)
    }
    const cutting = reporting((texts) => Math.min(wordsOf(texts), loadedTokens))
    await using stand = await standWith(cutting, { onQuestion })
    const messages = begin('Be brief.', words(8000))
    const before = await runRounds(stand, messages, results(3, 900))
    expect(before.at(-1)).toBe('32768;source=server')
    loadedTokens = 4096
    const after = await runRounds(stand, messages, results(6, 900))
    expect(after.at(-1)).toMatch(/^4096;/)
  })
})
