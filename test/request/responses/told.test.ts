import { expect, test } from 'vitest'
import { isJsonObject, parseJsonText, type JsonObject } from '../../../src/conversation/json-value.ts'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { asked } from '../../admin/explain/asked.ts'
import { visibleText } from '../../admin/page/visible-text.ts'
import { eventually } from '../../support/eventually.ts'
import { live, openStand, post, readTool, roundsOf, thinkingReader, user, type Item } from './stand.ts'

// What an operator sees of this API: items by what they are, not all of the model's as one assistant's words.

async function openShown(showsContent: boolean) {
  const admin = await adminPlace()
  const stand = await openStand({
    windowTokens: 8_000,
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

test('explain says what makes a client send all of its conversation', async () => {
  await expect(asked({ model: 'm', input: 'x', previous_response_id: 'resp_1' })).rejects.toThrow(
    /have the client send all of it, with store: false/,
  )
})
