import { describe, expect, test } from 'vitest'
import { pageAssets } from '../../../src/admin/page/page-frame.ts'
import { conversationPage } from '../../../src/admin/page/conversation-page.ts'
import { homePage, type HomePageOptions } from '../../../src/admin/page/home-page.ts'
import { html } from '../../../src/admin/page/markup.ts'
import { unescaped } from '../../../src/admin/page/message-line.ts'
import type { ConversationDetail } from '../../../src/telemetry/conversations/read-conversations.ts'
import {
  agentEvents,
  agentMessages,
  before,
  cardWith,
  detailWith,
  eventWith,
  messageWith,
  modelWith,
  now,
  rowWith,
  someConversations,
  someModels,
  someTotals,
  someUnread,
  toldWith,
  visibleText,
  windowOf,
} from './made-up.ts'

const setting = { now, version: '0.1.0', store: 'memory:', status: { well: true, troubles: [] } }

const home = (changes: Partial<HomePageOptions> = {}): string =>
  homePage({
    ...setting,
    totals: someTotals(),
    conversations: someConversations(),
    query: {},
    unread: someUnread(),
    models: someModels(),
    events: agentEvents(),
    hasPrices: true,
    clientUrl: 'http://127.0.0.1:3653/v1',
    ...changes,
  }).toString()

const conversation = (changes: Partial<ConversationDetail> = {}): string =>
  conversationPage({ ...setting, conversation: detailWith(changes) }).toString()

const homeText = (changes: Partial<HomePageOptions> = {}): string => visibleText(home(changes))

const conversationText = (changes: Partial<ConversationDetail> = {}): string =>
  visibleText(conversation(changes))

const toldEvent = (changes: Parameters<typeof eventWith>[0]): string =>
  conversationText({ events: [eventWith({ passes: [], ...changes })] })

const listed = (card: Parameters<typeof cardWith>[0]) => home({ conversations: [cardWith(card)] })

describe('how things stand', () => {
  const outage = {
    kind: 'upstream',
    what: '21 of the last 21 requests failed: default cannot be reached',
    since: before(90),
    advice: 'check that it <runs>',
  } as const

  test('stands at the top of each page, in words: all well, and nothing below it', () => {
    for (const page of [home(), conversation()]) {
      expect(page).toMatch(/<p id="status" class="status well" data-live role="status">\s*All well\s*<\/p>/)
      expect(page).toMatch(/<section\s+id="troubles"[^>]*\shidden/)
    }
  })

  test('or how much is not, which leads to what, since when, and what to do', () => {
    const status = {
      well: false,
      troubles: [outage, { ...outage, kind: 'window', what: 'a guess' } as const],
    }
    for (const page of [
      home({ status }),
      conversationPage({ ...setting, status, conversation: detailWith() }).toString(),
    ]) {
      const text = visibleText(page)
      expect(text).toContain('2 things are not well')
      expect(text).toContain(`${outage.what} since 14:28:30 UTC: check that it &lt;runs&gt;.`)
      expect(page).toMatch(/<p id="status" class="status bad"/)
      expect(page).not.toMatch(/id="troubles"[^>]*\shidden|<runs>/)
    }
  })
})

// A client chooses its label, its model and the names of its tools; a tool chooses what its result says. All of it is
// shown to an operator whose browser may delete conversations.
describe('hostile names and texts', () => {
  const bad = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;`
  const pages = {
    home: home({
      conversations: [
        cardWith({ label: bad, model: bad, profile: bad, client_key: bad, action: bad, last_seen: bad }),
        cardWith({ id: bad }),
      ],
      models: [
        modelWith({
          id: bad,
          upstream: bad,
          credential: bad,
          model: bad,
          window_in_force: windowOf(1, 'config', { profile: bad, overruled_tokens: 2 }),
          fields: { name: toldWith(bad) },
        }),
      ],
      events: [
        eventWith({
          id: bad,
          time: bad,
          conversation: bad,
          reason: bad,
          passes: [bad],
          details: { [bad]: bad },
        }),
      ],
      clientUrl: bad,
      store: bad,
      version: bad,
    }),
    conversation: conversation({
      id: bad,
      parent: bad,
      label: bad,
      model: bad,
      profile: bad,
      client_key: bad,
      rows: [rowWith({ action: bad, reason: bad, compaction: bad, window_source: bad, time: bad })],
      events: [eventWith({ type: 'error', reason: bad })],
      messages: [
        messageWith({ role: bad, tool: bad, received: bad, sent: `${bad} sent` }),
        messageWith({ index: null, treatment: 'summary', standsFor: { start: 1, end: 2 }, sent: bad }),
      ],
    }),
  }

  test.each(Object.entries(pages))('end no element and no attribute (%s)', (_, page) => {
    expect(page).toContain('&lt;script&gt;alert(1)')
    expect(page).not.toMatch(/<script>|<img src=x/)
    // What stands in tags is ours alone: no value got out of its quotation marks.
    const tags = page.match(/<[a-z][^>]*>/g) ?? []
    expect(tags.filter((tag) => /\son\w+=/.test(tag.replaceAll(/"[^"]*"/g, '""')))).toEqual([])
  })

  test('in an id lead nowhere but to a path of ours, and turn no writing direction but their own', () => {
    expect(listed({ id: '../x?y#z' })).toContain('href="/conversations/..%2Fx%3Fy%23z"')
    expect(listed({ id: 'javascript:alert(1)' })).not.toContain('href="javascript:')
    expect(listed({ label: '\u202egnp.exe' })).toContain('<bdi>\u202egnp.exe</bdi>')
  })
})

test.each([home(), conversation()])(
  'a page has nothing inline and nothing from elsewhere, and its live elements ids',
  (page) => {
    expect(page).not.toMatch(/\sstyle=|<style|<script(?![^>]*\ssrc=)|\son[a-z]+="/)
    expect(page).not.toMatch(/(?:src|href)="(?!\/|#)/)
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [tag] of page.matchAll(/<[^>]*\sdata-live[^>]*>/g)) expect(tag).toMatch(/\sid="/)
  },
)

test('what the pages load is there, and what is there is loaded', () => {
  const loaded = [...home().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
  expect(new Set(loaded)).toEqual(new Set(pageAssets().keys()))
  expect(pageAssets().get('/assets/page.js')?.type).toBe('text/javascript; charset=utf-8')
  for (const { body } of pageAssets().values()) {
    expect(body.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|@import|url\(/)
  }
})

describe('the list of conversations', () => {
  test('has the latest first, says who is being answered and shows upper bounds as such', () => {
    const cards = [
      cardWith({ label: 'older', last_seen: before(50) }),
      cardWith({ label: 'newer', id: 'b', last_seen: before(5) }),
    ]
    expect(homeText({ conversations: cards })).toMatch(/newer.*older/)
    expect(homeText({ conversations: cards })).not.toContain('answering')
    const answering = homeText({ conversations: [cardWith({ answering: true, tokens_are_bounds: true })] })
    expect(answering).toContain('answering')
    expect(answering).toContain('≤ 11,904 → ≤ 11,904')
  })

  // An agent ran twice with the same task. The second run, compacted nine times, was a branch that nobody unfolded:
  // the row said "0 compactions".
  test('says of branches what happened to them without unfolding, and when each run was first seen', () => {
    const first = cardWith({ id: 'a', first_seen: before(7_200), last_seen: before(3_600) })
    const branch = { parent: 'a', action: 'compacted', last_seen: before(5), first_seen: before(600) }
    const second = cardWith({ id: 'b', ...branch, compactions: 9 })
    const one = homeText({ conversations: [first, second] })
    expect(one).toContain('1 branch: compacted 9 times; latest request compacted, just now')
    expect(one).toContain('first seen 12:30:00 UTC')
    expect(one).toContain('first seen 14:20:00 UTC')
    const third = cardWith({ id: 'c', parent: 'a', compactions: 1, status: 404, last_seen: before(2) })
    const two = home({ conversations: [first, second, third] })
    expect(visibleText(two)).toContain(
      '2 branches: compacted 10 times in all; latest request sent as it came; the upstream answered 404, just now',
    )
    expect(two).toMatch(/<span class="state calm">(<bdi>)?sent as it came</)
    expect(two).toContain('<span class="state failed">the upstream answered 404</span>')
  })

  test('calls a conversation by its label in the events, too', () => {
    const page = home({
      conversations: [cardWith({ id: 'c1', label: 'night shift' })],
      events: [eventWith({ conversation: 'c1' })],
    })
    expect(page.match(/<bdi>night shift<\/bdi>/g)).toHaveLength(2)
  })

  // One row of the journal that was damaged, or written by another version, made of every page an error.
  test('shows what a damaged row says as far as it can', () => {
    const half = '\ud800'
    const event = { conversation: half, model: half, reason: half, passes: [half], time: half }
    const page = home({
      conversations: [cardWith({ id: half, label: half, model: half, last_seen: half })],
      events: [eventWith({ ...event, details: { [half]: half } })],
    })
    expect(page).toContain('/conversations/%EF%BF%BD')
  })
})

describe('the table of models', () => {
  test('says of each which window is in use and why, its ratio, what it refuses and since when', () => {
    const text = homeText()
    expect(text).toContain(
      'llama-3.1-8b-instruct default credential Xk29_aQz 8,192 tokens your setting overruled: the upstream refuses more, 32,768 → 8,192; set window.tokens in the profile small-local',
    )
    expect(text).toContain('usage in streams, recall beside a schema, user messages in a row 15 min ago')
    expect(text).toContain('32,768 tokens what the server has loaded 1.08 over 21,480 tokens')
    expect(text).toContain('128,000 tokens assumed, since nothing is known of it: set window.tokens')
  })

  test.each([
    ['refusal', 'the upstream refused more'],
    ['cut', 'the upstream cut longer prompts'],
    ['unstated', 'longer prompts were refused without a number'],
  ] as const)('says of a window that was learnt by a %s: %s', (from, words) => {
    const fields = { window: toldWith({ tokens: 4_096, kind: 'total' as const }, { from }) }
    const model = modelWith({ window_in_force: windowOf(4_096, 'learnt'), fields })
    expect(homeText({ models: [model] })).toContain(`4,096 tokens ${words}`)
  })

  test('has twenty of them at most, and says how many more there are, or that there is none', () => {
    const page = home({
      models: Array.from({ length: 23 }, (_, at) => modelWith({ id: `m${at}`, model: `number-${at}` })),
    })
    expect(page.match(/id="model-/g)).toHaveLength(20)
    expect(page).toContain('number-19')
    expect(visibleText(page)).toContain('And 3 more: GET /models lists them all.')
    expect(homeText({ models: [] })).toContain('Nothing is believed of any model yet.')
  })
})

test('a conversation whose profile a refusal has overruled says which setting is wrong', () => {
  const overruled = { window_tokens: 8_192, window_source: 'learnt', overruled_tokens: 32_768 }
  const rows = [rowWith({ ...overruled, profile: 'small-local' })]
  expect(conversationText({ window_tokens: 8_192, rows })).toContain(
    '8,192 tokens: your setting overruled: the upstream refuses more, 32,768 → 8,192; set window.tokens in the profile small-local',
  )
  expect(conversationText({ rows: [rowWith()] })).toContain('32,768 tokens: what the server states')
})

// Under "Compactions 8" stood "Nothing happened yet" after `foldgate purge`.
// Rows said "other attempts 1 status 404 upstream default" and "refusal window tokens 32,000 kind total".
test('events are told in words, and are gone where there are none of a conversation that was compacted', () => {
  const none = { events: [], compactions: 8 }
  expect(conversationText(none)).toContain('No longer on record: the journal’s rows')
  expect(conversationText({ ...none, compactions: 0 })).toContain('Nothing happened yet')
  const refusal = { attempts: 1, status: 404, upstream: 'default' }
  expect(toldEvent({ type: 'refusal', reason: 'other', details: refusal })).toContain(
    'Refusal answered 404 by the upstream default',
  )
  const window = { window_tokens: 32_000, kind: 'total', upstream: 'default' }
  expect(toldEvent({ type: 'window', reason: 'refusal', details: window })).toContain(
    'the upstream refused more window: 32,000 tokens for prompt and reply together by the upstream default',
  )
  expect(toldEvent({ type: 'window', reason: 'by-hand', details: { new_field: 3 } })).toContain(
    'by-hand new field 3',
  )
})

test('what to do about requests that left their conversation at the server is said for their API alone', () => {
  const totals = { ...someTotals(), stateful_requests: 14 }
  const text = homeText({ totals, unread: someUnread() })
  expect(text).toContain(
    '14 requests left their conversation at the server, and went on unread: have the client send all of it, with store: false and neither previous_response_id nor conversation. ',
  )
  const [card = expect.fail()] = someUnread()
  const messages = [{ ...card, dialect: 'messages' }]
  expect(homeText({ totals, unread: messages })).toContain(
    'went on unread: have the client send all of its messages, without thread.',
  )
})

test('what was written to the cache, and why something was not in it, has columns where a provider says so', () => {
  const rows = [rowWith({ cache_written_tokens: 1_234 }), rowWith({ cache_miss: 'system' })]
  const figures = conversationText({ rows })
  expect(figures).toContain('Of that cached Newly cached Not cached since it changed Pressure')
  expect(figures).toMatch(/ 1,234 .* system /)
  expect(conversationText({ rows: [rowWith()] })).toContain('Of that cached Pressure')
})

describe('the messages of a conversation', () => {
  test('that are no longer held, or may not be shown, are said to be so, and why', () => {
    expect(conversationText({ messages: null })).toContain('They are no longer held.')
    const page = conversation({ shows_content: false, messages: agentMessages() })
    expect(visibleText(page)).toContain(
      'Texts are not shown. To see them, write admin: {show_content: true} into foldgate.yaml and restart Foldgate.',
    )
    expect(page).not.toMatch(/You are a careful engineer|## Goal/)
    const gone = messageWith({ received: '{"content":"came"}', sent: null, treatment: 'cleared' })
    expect(conversationText({ messages: [gone] })).toContain('came in {"content":"came"}')
    expect(conversationText({ messages: [gone] })).toContain('No longer held.')
  })

  test('are summed up, and what was done to them is said in words', () => {
    const text = conversationText()
    expect(text).toMatch(/61 messages with [\d,]+ tokens came in, 16 with [\d,]+ tokens were sent\./)
    expect(text).toContain(
      '1 output rendered, 1 large result previewed, 1 old result cleared, 46 messages folded into a summary of 884 tokens; the newest 7 stand as they were.',
    )
    expect(text).toContain('budget what a prompt may take')
    expect(text).toContain('clipped cut to its share')
    expect(text).toContain(
      'The client still has all of it; the model reads what was left out back only where',
    )
    expect(text).toContain('tools 4,120 tokens came in, 4,120 were sent: kept')
  })
})

test('a message is easier to read with its line breaks, and shows what a terminal would act on', () => {
  expect(unescaped(String.raw`{"content":"a\r\nb\t\"c\" \\n \u001b[31m`)).toBe(
    '{"content":"a\nb\t"c" \\n \\u001b[31m',
  )
})

test('a promise is no part of a page', () => {
  // @ts-expect-error: what the types forbid is refused as well.
  expect(() => html`${Promise.resolve('later')}`).toThrow('a part of it is a promise')
})
