import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../src/json/json-value.ts'
import { json } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { openStand, post, readTool, roundsOf, troubleOf, user, type MessagesStand } from './stand.ts'

function openSaying(windowTokens: number, profile: object = {}): Promise<MessagesStand> {
  const reply = { content: [{ type: 'text', text: 'Yes.' }] } as const
  return openStand({ windowTokens, profile, reply: () => reply })
}

// A browser's tool answers with what the page says and a picture of it. The text alone was too long, and the picture went as
// well; of a search that came as twenty blocks nothing stood there but that it had been left out, beside an empty window.
test('a picture stays behind a long text in the newest result', async () => {
  const picture = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
  }
  const page = { type: 'text', text: 'the quick brown fox jumps over the dog '.repeat(1_500) }
  const shown = await newestOf([page, picture])
  expect(shown.at(-1)).toEqual(picture)
  expect(JSON.stringify(shown)).toMatch(/\[clipped: \d+ tokens in all\]/)
  expect(JSON.stringify(shown)).not.toContain('[media left out]')
})

test('of results that do not all fit the last ones stay, and fill the room', async () => {
  const found = Array.from({ length: 20 }, (_, number) => ({
    type: 'search_result',
    source: `https://pages.example/${number}`,
    title: `Page ${number}`,
    content: [{ type: 'text', text: 'the quick brown fox jumps over the dog '.repeat(60) }],
  }))
  const [mark, ...shown] = await newestOf(found)
  expect(mark).toEqual({ type: 'text', text: '[media left out]' })
  expect(shown.length).toBeGreaterThan(4)
  expect(shown).toEqual(found.slice(-shown.length))
})

/** What reaches the upstream of such a result, at the end of a conversation. */
async function newestOf(content: readonly JsonObject[]): Promise<readonly unknown[]> {
  const stand = await openSaying(8_000)
  const call = { type: 'tool_use', id: 'toolu_newest', name: 'read', input: { path: '/page' } }
  const messages = [
    user('What does the page say?'),
    ...roundsOf(6).slice(1),
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_newest', content }] },
  ]
  expect((await post(stand, { messages, tools: [readTool], max_tokens: 100 })).status).toBe(200)
  const newest: unknown = JSON.parse(stand.upstream.requests.at(-1)?.rawMessages.at(-1) ?? '{}')
  const [result]: readonly unknown[] =
    isJsonObject(newest) && Array.isArray(newest['content']) ? newest['content'] : []
  return isJsonObject(result) && Array.isArray(result['content']) ? result['content'] : []
}

// A result that names tools is said again behind a fold, with its call. Where roles have to alternate, a user's message must
// not come next: it stood there by itself, and every form of the request was refused.
describe('behind tools that are said again, where roles have to alternate', () => {
  const found: readonly JsonObject[] = [
    user('Which tools are there?'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_search', name: 'search', input: {} }] },
    { role: 'user', content: [resultOf('toolu_search', [{ type: 'tool_reference', tool_name: 'read' }])] },
  ]

  test('the reply before a question is kept, or folded with it', async () => {
    const said = 'the quick brown fox jumps over the dog '.repeat(30)
    const turns = Array.from({ length: 4 }, (_, turn) => [
      { role: 'assistant', content: `Answer ${turn}: ${said}` },
      user(`Question ${turn}: ${said}`),
    ])
    const sent = await sentOf(2_500, [...found, ...turns.flat()])
    expect(repeatedRoles(sent)).toEqual([])
    expect(sent.length).toBeGreaterThan(4)
  })

  // What was said beside the results counted as a turn: the only legal cut was before it, and the newest round was folded.
  test('the newest round stays whole, with what is said beside its results', async () => {
    const rounds = roundsOf(12).map((message) => besideResults(message))
    const sent = await sentOf(6_000, [...found, ...rounds])
    expect(repeatedRoles(sent)).toEqual([])
    expect(sent.slice(-2)).toEqual(rounds.slice(-2))
  })
})

/** The messages of the view of a conversation. */
async function sentOf(windowTokens: number, messages: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const stand = await openSaying(windowTokens, { template: 'strict' })
  expect((await post(stand, { messages, tools: [readTool], max_tokens: 100 })).status).toBe(200)
  const sent = (stand.upstream.requests.at(-1)?.rawMessages ?? []).map((raw): unknown => JSON.parse(raw))
  expect(sent.length).toBeLessThan(messages.length)
  return sent.filter(isJsonObject)
}

const repeatedRoles = (messages: readonly JsonObject[]): readonly unknown[] =>
  messages.filter(({ role }, index) => role === messages[index - 1]?.['role'])

const resultOf = (id: string, content: unknown): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})

function besideResults(message: JsonObject): JsonObject {
  const { content } = message
  const [first]: readonly unknown[] = Array.isArray(content) ? content : []
  if (!isJsonObject(first) || first['type'] !== 'tool_result') return message
  return { ...message, content: [first, { type: 'text', text: 'Take your time.' }] }
}

// If not even the frames of the newest round fit, all of it is folded, and what holds for all that follows is said again. It
// stood last, so that the request ended with a reply: newer models refuse that, and older ones go on with it.
test.each([
  ['with room for a recap', 900],
  ['without', 70],
])(
  'where everything is folded, a user’s message is the last, behind tools that are said again %s',
  async (_, windowTokens) => {
    const stand = await openSaying(windowTokens)
    const ids = Array.from({ length: 60 }, (_each, call) => `toolu_${call}`)
    const messages: readonly JsonObject[] = [
      user('Read every part.'),
      {
        role: 'assistant',
        content: [
          { type: 'mcp_tool_listing', server_name: 'parts', tools: [] },
          ...ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: { path: `parts/${id}.txt` } })),
        ],
      },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'fox' })) },
    ]
    expect((await post(stand, { messages, max_tokens: 20 })).status).toBe(200)
    const [sent] = stand.upstream.requests
    expect(sent?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(sent?.rawMessages[1]).toContain('mcp_tool_listing')
  },
)

// Claude Code tells a model after each result how many tokens are left. A recap quoted each of these messages as it quotes the
// operator's rules, the newest first, and after some hundred rounds the rules themselves had no room among them.
test('of messages that say how much is left none takes the place of a rule', async () => {
  const at = await openSaying(8_000)
  const rules = `The rules: ${'never touch the ledger of a closed year, '.repeat(80)}and say so.`
  const rounds = Array.from({ length: 100 }, (_, round) => [
    ...roundsOf(1, round),
    { role: 'system', content: left(round) },
  ])
  const answer = await post(at, {
    messages: [user('Begin.'), { role: 'system', content: rules }, ...rounds.flat()],
  })
  expect([answer.headers.get('x-foldgate-action'), troubleOf(at)]).toEqual(['compacted', []])
  const sent = at.upstream.requests.at(-1)?.messages ?? []
  const said = sent.find(({ blocks }) => JSON.stringify(blocks).includes('<conversation-recap>'))
  expect(JSON.stringify(said)).toContain(rules)
  expect(JSON.stringify(said)).not.toContain('tokens left')
  // What counts is the newest, where it stood.
  expect(sent.at(-1)?.blocks).toEqual([{ type: 'text', text: left(99) }])
})

const left = (round: number): string => `<total_tokens>${9_000_000 - 700 * round} tokens left</total_tokens>`

// A client sent the result of a search for tools twice. Both name tools that hold for all that follows, so both were said again
// behind a fold, each with its call: the same call stood there twice, which the client had not written.
test('a call whose result stands there twice is said again once', async () => {
  const upstreamSays = json({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Yes.' }],
    usage: {},
  })
  await using at = await standWith(upstreamSays, { profile: { window: { tokens: 3_000 } } })
  const found = {
    role: 'user',
    content: [resultOf('toolu_1', [{ type: 'tool_reference', tool_name: 'read' }])],
  }
  const long = 'the quick brown fox jumps over the dog '.repeat(40)
  const talk = Array.from({ length: 8 }, (_, turn) => [
    { role: 'assistant', content: `Answer ${turn}: ${long}` },
    user(`Question ${turn}: ${long}`),
  ])
  const messages = [
    user('Which tools are there?'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'search', input: {} }] },
    found,
    found,
    ...talk.flat(),
  ]
  const answer = await post({ foldgate: at }, { max_tokens: 100, messages })
  expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
  const sent: unknown = JSON.parse(at.upstream.requests.at(-1)?.body.toString() ?? '')
  const text = JSON.stringify(isJsonObject(sent) ? sent['messages'] : null)
  expect(text.match(/"type":"tool_use"/g)).toHaveLength(1)
  expect(text.match(/"type":"tool_result"/g)).toHaveLength(1)
})

const made = { role: 'assistant', content: [{ type: 'compaction', content: 'The parts were read.' }] }
const rule = { role: 'system', content: 'Answer in one line.' }

const wish = (index: number, words: number) => user(`Wish ${index}: ${'more '.repeat(words)}`)

// What users had said before the server's own compaction gave way, the oldest first, and what the operator had said between
// them stood first then: Anthropic refuses a system message there.
test.each<[string, readonly object[], readonly string[]]>([
  ['a later word of the user’s', [wish(0, 900), rule, wish(1, 900), wish(2, 600)], ['user', 'assistant']],
  ['the compaction', [wish(0, 1_500), rule, rule, wish(1, 1_500)], ['assistant', 'user']],
])('what is left before it begins with %s, and not with the operator’s', async (_name, before, roles) => {
  const at = await openSaying(4_000, { window: { tokens: 4_000, output_reserve: 500 } })
  const messages = [...before, made, user('Go on.'), ...roundsOf(3)]
  expect((await post(at, { max_tokens: 500, messages })).status).toBe(200)
  expect(troubleOf(at)).toEqual([])
  const sent: { readonly messages: readonly { readonly role: string }[] } = JSON.parse(
    at.upstream.requests.at(-1)?.body.toString() ?? '{}',
  )
  expect(sent.messages.slice(0, 2).map(({ role }) => role)).toEqual(roles)
})

test('while an older word of the user’s stands before it, it stays', async () => {
  const at = await openSaying(4_000)
  const before = [wish(0, 100), rule, wish(1, 600)]
  const messages = [...before, made, user('Go on.'), ...roundsOf(5)]
  expect((await post(at, { max_tokens: 500, messages })).headers.get('x-foldgate-action')).toBe('compacted')
  expect(at.upstream.requests.at(-1)?.rawMessages.slice(0, 2)).toEqual(
    [wish(0, 100), rule].map((each) => JSON.stringify(each)),
  )
})
