import { expect, test } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../../src/json/json-value.ts'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { asked } from '../../admin/explain/asked.ts'
import { visibleText } from '../../admin/page/made-up.ts'
import { eventually } from '../../support/eventually.ts'
import {
  live,
  openStand,
  outputOf,
  post,
  readTool,
  roundsOf,
  thinkingReader,
  user,
  type Item,
} from './stand.ts'

const WINDOW_TOKENS = 8_000

// An output that exceeded the window by itself was cut, which changes nothing before it: yet the thoughts that had led to it,
// and were never sent before, were taken out.
test('what was thought stays where a compaction changes only what follows it', async () => {
  let called = 0
  const stand = await openStand({
    windowTokens: WINDOW_TOKENS,
    reply: () => ({
      output: [
        { type: 'reasoning', tokens: 60 },
        {
          type: 'function_call',
          callId: `call_${(called += 1)}`,
          name: 'read',
          arguments: `{"part":${called}}`,
        },
      ],
    }),
  })
  const input: Item[] = [user('Read every part and say what is wrong with it.')]
  for (const words of [9_000, 100, 100]) {
    for (const item of outputOf(await post(stand, { input, tools: [readTool] }))) {
      input.push(item)
      if (item['type'] !== 'function_call') continue
      const output = Array.from({ length: words }, (_, index) => `part ${index}`).join(' ')
      input.push({ type: 'function_call_output', call_id: item['call_id'], output })
    }
  }
  const answer = await post(stand, { input, tools: [readTool] })
  expect(answer.headers.get('x-foldgate-passes')).toBe('clip')
  const { requests } = stand.upstream
  expect(requests.flatMap(({ rejected, removed }) => [rejected ?? [], removed].flat())).toEqual([])
  // The third request shortens the output further: that costs the second thought, which was made on it, and not the first.
  const thoughts = requests.map(({ items }) => items.filter(({ type }) => type === 'reasoning'))
  expect(thoughts.map(({ length }) => length)).toEqual([0, 1, 1, 2])
  for (const [first] of thoughts.slice(1)) expect(first).toEqual(input[1])
  for (const { promptTokens } of requests) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
})

// A request for approval is answered by its id, which stayed when its reasoning went: the server refused that, and everything
// after it.
test('what cannot do without its id keeps the reasoning that the server demands for it', async () => {
  let answered = 0
  const request = {
    type: 'mcp_approval_request',
    id: 'mcpr_1',
    server_label: 's',
    name: 'pay',
    arguments: '{}',
  }
  const stand = await openStand({
    windowTokens: 4_700,
    changesPrefix: true,
    reply: () => {
      answered += 1
      return {
        output:
          answered === 1
            ? [{ type: 'reasoning' }, { type: 'verbatim', item: request }]
            : [{ type: 'message', text: 'Paid.' }],
      }
    },
  })
  const input = [user('Pay the bill.'), ...roundsOf(3)]
  const thought = outputOf(await post(stand, { input }))
  const approved = { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }
  const answer = await post(stand, { input: [...input, ...thought, approved, ...roundsOf(3, 10)] })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'compacted'])
  const sent = stand.upstream.requests.at(-1)?.items.map(({ type }) => type)
  expect(sent).toContain('mcp_approval_request')
  expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
})

// What an operator sees of this API: items by what they are, not all of the model's as one assistant's words.

async function openShown(showsContent: boolean) {
  const admin = await adminPlace()
  const stand = await openStand({
    windowTokens: 5_400,
    reply: thinkingReader(),
    foldgate: { flags: admin.flags, settings: { admin: { show_content: showsContent } } },
  })
  const page = async (path: string) =>
    (await askAdmin(admin.origin, path, { headers: { accept: 'text/html' } })).text
  return { stand, page, origin: admin.origin }
}

/** The items of a conversation, as the page has them. */
async function itemsOf(origin: string, id: string): Promise<JsonObject[]> {
  const told = parseJsonText((await askAdmin(origin, `/conversations/${id}`)).text)
  const messages = isJsonObject(told) ? told['messages'] : null
  return Array.isArray(messages) ? messages.filter(isJsonObject) : []
}

test('reasoning is called that, and told as outdated where a compaction has made it so, not as dropped for want of room', async () => {
  const { stand, page, origin } = await openShown(true)
  const answers = await live(stand, [user('Read every part.')], { rounds: 20 })
  const id = answers.at(-1)?.headers.get('x-foldgate-conversation') ?? ''
  const items = await itemsOf(origin, id)
  const thoughts = items.filter(({ kind }) => kind === 'reasoning')
  expect(thoughts).toHaveLength(19)
  expect(new Set(thoughts.map(({ treatment }) => treatment))).toEqual(new Set(['folded', 'outdated', 'kept']))
  expect(items.filter(({ treatment }) => treatment === 'dropped')).toEqual([])
  // Between two compactions all that was thought since the first of them goes along.
  expect(thoughts.filter(({ treatment }) => treatment === 'kept').length).toBeGreaterThan(1)
  const calls = items.filter(({ tool }) => tool === 'read')
  expect(new Set(calls.map(({ role, kind }) => [role, kind].join(' ')))).toEqual(
    new Set(['assistant ', 'tool ']),
  )

  const shown = await page(`/conversations/${id}`)
  const text = visibleText(shown)
  expect(text).toContain('Items of the latest request')
  expect(text).toContain('reasoning that only held for what stood before it')
  // What only the server can read is no more than its length.
  const encrypted = String(items.findLast(({ kind }) => kind === 'reasoning')?.['received'])
  expect(encrypted).toMatch(/[\w-]{120}/)
  const [longest = ''] = (/[\w-]{120,}/.exec(encrypted) ?? []).values()
  expect(text).toContain(`… (${longest.length} characters)`)
  expect(text).not.toContain(longest)
})

test('the server’s own compaction is the start of the history, and what stands before it is told as such', async () => {
  const { stand, page, origin } = await openShown(false)
  const input: Item[] = [user('Read every part.')]
  await live(stand, input, { rounds: 2 })
  const compact = await post(stand, { input, tools: [readTool] }, '/responses/compact')
  const compacted = parseJsonText(compact.text)
  const output = isJsonObject(compacted) && Array.isArray(compacted['output']) ? compacted['output'] : []
  const answer = await post(stand, { input: [...output, user('Go on.')] })
  const id = answer.headers.get('x-foldgate-conversation') ?? ''
  expect((await itemsOf(origin, id)).map(({ kind, role, pinned }) => ({ kind, role, pinned }))).toEqual([
    { kind: null, role: 'user', pinned: 'before-start' },
    { kind: 'compaction', role: 'other', pinned: 'history-start' },
    { kind: null, role: 'user', pinned: null },
  ])
  const text = visibleText(await page(`/conversations/${id}`))
  expect(text).toContain("before the server's compaction")
  expect(text).toContain('start of the history')
})

test('requests that are relayed unread are told on the page and in the log, with what to change', async () => {
  const { stand, page } = await openShown(false)
  await post(stand, { input: 'And then?', previous_response_id: 'resp_1' })
  await post(stand, { input: [{ type: 'item_reference', id: 'msg_1' }, user('And then?')] })
  const context_management = [{ type: 'compaction', compact_threshold: 5_000 }]
  await post(stand, { input: 'And then?', context_management })
  await eventually(async () => {
    const text = visibleText(await page('/'))
    expect(text).toContain('2 requests left their conversation at the server')
    expect(text).toContain('providerOptions: { openai: { store: false } }')
    expect(text).toContain('1 request had the server compact its conversation')
  })
  const told = stand.foldgate.log.filter((line) => line.includes('kept at the server'))
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('neither previous_response_id nor conversation')
})

test('explain counts the instructions, and speaks of items', async () => {
  const instructions = 'Be careful with the files of others. '.repeat(100)
  const input = [
    user('Read every part.'),
    ...roundsOf(1),
    { type: 'function_call_output', call_id: 'none', output: 'x' },
  ]
  const told = await asked({ model: 'gpt-5.1', instructions, input })
  const { received } = told.tokens
  expect(received.system).toBeGreaterThan(700)
  expect(received.total / told.budget).toBeCloseTo(told.pressure, 5)
  expect(told.entry_name).toBe('item')
  expect(told.warnings.map(({ message }) => message).join()).toContain('tool results without a call (item 3)')
})
