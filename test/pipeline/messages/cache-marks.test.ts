import { expect, test } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../../src/json/json-value.ts'
import { openStand, post, roundsOf, troubleOf, user, type MessagesStand } from './stand.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const longMark = { cache_control: { type: 'ephemeral', ttl: '1h' } }

function stand(cache = {}): Promise<MessagesStand> {
  const reply = { content: [{ type: 'text', text: 'Well.' }] } as const
  return openStand({ windowTokens: 4_000, cache, reply: () => reply })
}

/** A conversation beyond the window, with this in its last block. */
function history(last: object): JsonObject[] {
  const [call, result] = roundsOf(1, 12)
  const marked = blocksIn(result).map((block) => ({ ...block, ...last }))
  return [user('Begin.'), ...roundsOf(12), { ...call }, { role: 'user', content: marked }]
}

function blocksIn(message: unknown): readonly JsonObject[] {
  const content = isJsonObject(message) ? message['content'] : null
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}

const system = (...marks: readonly object[]) =>
  marks.map((each) => ({ type: 'text', text: 'Be brief.', ...each }))

type MarkSent = { readonly of: 'client' | 'tag' | 'recap'; readonly mark: unknown }

/** The marks of what was sent, in their order, and whose they are. */
function marksSent({ upstream }: MessagesStand): readonly MarkSent[] {
  const body = parseJsonText(upstream.requests.at(-1)?.body.toString() ?? '')
  const { system: around, messages } = isJsonObject(body) ? body : {}
  const all = [
    ...blocksIn({ content: around }),
    ...(Array.isArray(messages) ? messages : []).flatMap(blocksIn),
  ]
  return all.flatMap(({ text, cache_control: own }): MarkSent[] => {
    if (own === undefined) return []
    if (text === '<conversation-recap>\n') return [{ of: 'tag', mark: own }]
    return [{ of: String(text).includes('</conversation-recap>') ? 'recap' : 'client', mark: own }]
  })
}

test.each([
  ['one of the client’s marks is free', system(mark, mark), mark, ['client', 'client', 'recap', 'client']],
  ['two are free', system(mark), mark, ['client', 'tag', 'recap', 'client']],
  ['none is free', system(mark, mark, mark), mark, ['client', 'client', 'client', 'client']],
  ['the client marks nothing', system({}), {}, []],
])('where %s', async (_, around, last, expected) => {
  const at = await stand()
  const answer = await post(at, { system: around, messages: history(last) })
  expect([answer.headers.get('x-foldgate-action'), troubleOf(at)]).toEqual(['compacted', []])
  expect(marksSent(at).map(({ of }) => of)).toEqual(expected)
})

test('a mark of ours lasts as long as those behind it, which have to come later if they are shorter', async () => {
  const at = await stand()
  await post(at, { system: system(longMark), messages: history(longMark) })
  expect(marksSent(at)).toContainEqual({ of: 'recap', mark: longMark.cache_control })
  await post(at, { system: system(longMark), messages: history(mark) })
  expect(marksSent(at)).toContainEqual({ of: 'recap', mark: mark.cache_control })
  expect(troubleOf(at)).toEqual([])
})

// A provider looks back some twenty blocks from a mark. A turn of more than that left the client's newest mark without anything to
// find, and all of the fold was paid for again.
test('a turn of many blocks finds the fold in the cache', async () => {
  const at = await stand()
  const messages = history(mark)
  await post(at, { system: system(mark), messages })
  const ids = Array.from({ length: 24 }, (_, place) => `toolu_many_${place}`)
  const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} }))
  const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
  const next = [
    ...messages,
    { role: 'assistant', content: calls },
    {
      role: 'user',
      content: [...results.slice(0, -1), ...results.slice(-1).map((each) => ({ ...each, ...mark }))],
    },
  ]
  await post(at, { system: system(mark), messages: next })
  expect(troubleOf(at)).toEqual([])
  const [before, now] = at.upstream.requests.map(({ cache, promptTokens }) => ({ ...cache, promptTokens }))
  expect(before?.read).toBe(0)
  expect(now?.read).toBeGreaterThan((before?.promptTokens ?? 0) / 4)
})

test('a client reads in a header what came from the cache, where the answer says so before it goes on', async () => {
  const at = await stand()
  const answer = await post(at, { system: system(mark), messages: history(mark), stream: true })
  const [use] = at.upstream.requests.map(({ cache }) => cache)
  expect(use?.written['5m']).toBeGreaterThan(0)
  expect(answer.headers.get('x-foldgate-cache')).toBe(`read=0;written=${use?.written['5m']}`)
})

// Story: the only mark stood behind the recap, which is another one after each compaction. What was the same up to there had
// never been written down by itself: at a third of the requests into a small window nothing was read.
test('the next compaction finds in the cache what stands before the fold', async () => {
  const at = await stand({ minimumTokens: 300 })
  const begin = user(`Begin. ${'The quick brown fox jumps over the dog. '.repeat(50)}`)
  const rounds = roundsOf(24)
  for (const count of [16, 48]) {
    const newest = blocksIn(rounds[count - 1]).map((block) => ({ ...block, ...mark }))
    const messages = [begin, ...rounds.slice(0, count - 1), { role: 'user', content: newest }]
    await post(at, { system: system(mark), messages })
  }
  expect(troubleOf(at)).toEqual([])
  const [first, second] = at.upstream.requests.map(({ cache, rawMessages }) => ({ cache, rawMessages }))
  expect(second?.rawMessages[0]).toBe(first?.rawMessages[0])
  expect(second?.rawMessages[1]).not.toBe(first?.rawMessages[1])
  expect(second?.cache.read).toBeGreaterThan(300)
})
