import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { json, stream } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import type { Feature, Matrix } from './matrix.ts'
import {
  agentStand,
  expectCompacted,
  expectTurns,
  messagesStand,
  QUESTIONS,
  responsesStand,
  type AgentStand,
  type ThinkingStand,
} from './stand/agent-stand.ts'

/** What a library does with chat completions; what it is not said to do is not tried. */
export type ChatLibrary = {
  readonly name: string
  readonly packageName: string
  /** Where its requests arrive. Default: where chat completions are. */
  readonly path?: string
  /** Asks once with a conversation longer than the window; what the model said. */
  readonly chat?: (at: AgentStand) => Promise<unknown>
  readonly stream?: (at: AgentStand) => Promise<unknown>
  readonly loop?: Loop
  readonly streamedLoop?: Loop
  /** Has an object of a schema made of a long conversation, in each of these ways. */
  readonly structured?: { readonly [form in 'plain' | 'streamed']?: (at: AgentStand) => Promise<unknown> }
  readonly errors?: (at: AgentStand) => Promise<void>
  /** Leaves in the middle of a stream, at `words `. */
  readonly abort?: (at: { readonly url: string }) => Promise<void>
  readonly embed?: (at: { readonly url: string }) => Promise<unknown>
  readonly files?: () => Promise<void>
}

type Loop = { readonly turns: number; readonly run: (at: AgentStand) => Promise<void> }

/** What an object is made by. */
export const LONGEST = z.object({ longest: z.string(), lines: z.number() })
/** What no prompt may be: over the window by itself. */
export const TOO_LONG = 'a very long question '.repeat(3_000)

export function chatLibrary(matrix: Matrix, library: ChatLibrary): void {
  const { name, packageName, path = '/v1/chat/completions' } = library
  const { chat, stream: streamed, loop, streamedLoop, structured = {}, errors, abort, embed, files } = library
  const shows = matrix.client(name, packageName)
  const shown = (title: string, features: Feature | readonly Feature[], run: () => Promise<void>) =>
    showing(title, shows(features, run))
  describe.each([name])('%s', () => {
    for (const [ask, feature, form] of [
      [chat, 'chat', 'plain'],
      [streamed, 'stream', 'streamed'],
    ] as const) {
      if (ask === undefined) continue
      shown(`holds a conversation longer than the window, ${form}`, feature, async () => {
        await using at = await agentStand()
        expect(await ask(at)).toBe('A plain answer.')
        expectCompacted(at, 1, { form, path })
      })
    }

    if (loop !== undefined)
      shown('an agent that reads files', 'loop', async () => {
        await using at = await agentStand()
        await loop.run(at)
        expectTurns(at, loop.turns, { path })
      })

    if (streamedLoop !== undefined) {
      // Of all turns it shows both.
      const isStreamToo = streamed === undefined && streamedLoop.turns === QUESTIONS.length
      const features: Feature[] = isStreamToo ? ['stream', 'streamedLoop'] : ['streamedLoop']
      shown('the same, its answers streamed', features, async () => {
        await using at = await agentStand()
        await streamedLoop.run(at)
        expectTurns(at, streamedLoop.turns, { form: 'streamed', path })
      })
    }

    const strict = [loop, streamedLoop].find((each) => each?.turns === QUESTIONS.length)
    if (strict !== undefined)
      shown('the same over several turns under a strict template', 'strict', async () => {
        await using at = await agentStand('strict')
        await strict.run(at)
        expectTurns(at, strict.turns, { form: strict === loop ? 'plain' : 'streamed', path })
      })

    for (const form of ['plain', 'streamed'] as const) {
      const run = structured[form]
      if (run === undefined) continue
      shown(`an object of a schema, ${form}`, 'structured', async () => {
        await using at = await agentStand()
        expect(await run(at)).toEqual({ longest: 'src/main.ts', lines: 20 })
        expectCompacted(at, 1, { form, path })
      })
    }

    if (errors !== undefined)
      shown("refusals are the library's own errors", 'errors', async () => {
        await using at = await agentStand()
        await errors(at)
      })

    if (abort !== undefined)
      shown('an abort in the middle of a stream reaches the upstream', 'abort', async () => {
        await using at = await standWith(stream('A few words and then nothing more. ', 'never'))
        await abort(at)
        await expect.poll(() => at.upstream.requests.map(({ left }) => left)).toEqual([true])
      })

    if (embed !== undefined)
      shown('embeddings are relayed as they are sent', 'embeddings', async () => {
        const data = [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }]
        await using at = await standWith(json({ object: 'list', data }))
        for (const way of [at, at.upstream]) expect(await embed(way)).toEqual([0.5, -0.25])
        const [through, direct] = at.upstream.requests
        expect(through?.body.length).toBeGreaterThan(0)
        expect(through?.body).toEqual(direct?.body)
        expect(through?.url).toBe(direct?.url)
      })

    if (files !== undefined) shown('files are uploaded and downloaded as they are', 'files', files)
  })
}

/** Has the model read files, over all turns. Rejects with the client's error if a request is refused. */
export type Reading = (at: ThinkingStand) => Promise<void>

export type ThinkingLibrary = {
  readonly name: string
  readonly packageName: string
  readonly plain: Reading
  readonly streamed: Reading
}

type ThinkingApi = typeof responsesApi | typeof messagesApi

export const responsesApi = {
  title: 'Responses API',
  path: '/v1/responses',
  stand: responsesStand,
  /** The prompt alone, or with the reply that is asked for. */
  overflow: /exceeds the context window/,
} as const

export const messagesApi = {
  title: 'Messages API',
  path: '/v1/messages',
  stand: messagesStand,
  overflow: /prompt is too long|exceed context limit/,
} as const

export function thinkingLibrary(matrix: Matrix, api: ThinkingApi, library: ThinkingLibrary): void {
  const { plain, streamed } = library
  const name = `${library.name}, ${api.title}`
  const shows = matrix.client(name, library.packageName)

  /** The server alone refuses the conversation when it outgrows the window; through Foldgate nothing is refused or left out. */
  async function readAll(read: Reading, form: 'plain' | 'streamed'): Promise<void> {
    await using direct = await api.stand('alone')
    await expect(read(direct)).rejects.toThrow(api.overflow)
    const reasons = direct.upstream.requests.map(({ rejected }) => rejected?.reason ?? null)
    expect(reasons).toEqual([...Array(reasons.length - 1).fill(null), 'window'])

    await using at = await api.stand('through Foldgate')
    await read(at)
    expect(at.lost()).toEqual([])
    expect(at.isReminded()).toBe(true)
    expectTurns(at, QUESTIONS.length, { form, path: api.path })
  }

  async function failAll(): Promise<void> {
    await using at = await api.stand('through Foldgate')
    await at.upstream.close()
    for (const read of [plain, streamed]) await expect(read(at)).rejects.toThrow('cannot be reached')
  }

  const errands = [
    ['an agent that reads files over several turns', shows('loop', () => readAll(plain, 'plain'))],
    ['the same, its answers streamed', shows('streamedLoop', () => readAll(streamed, 'streamed'))],
    ["Foldgate's own errors are the library's, streamed or not", shows('errors', failAll)],
  ] as const
  describe.each([name])('%s', () => {
    for (const [title, show] of errands) showing(title, show)
  })
}

function showing(title: string, show: () => Promise<void>): void {
  test.each([title])('%s', async () => {
    expect.hasAssertions()
    await show()
  })
}
