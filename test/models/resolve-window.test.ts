import { describe, expect, test } from 'vitest'
import { resolveWindow, type WindowSources } from '../../src/models/resolve-window.ts'
import { unknownWindow } from '../support/models.ts'
import type { ServerWindow } from '../../src/models/discovery/server-windows.ts'
import type { ModelRecord } from '../../src/models/model-record.ts'
import { findOwnWindow } from '../../src/models/own-window.ts'
import { namedProfile } from '../support/profiles.ts'
import { parseUpstreamAddress } from '../../src/upstream/address.ts'

const learnt = (
  tokens: number,
  from: 'refusal' | 'cut' | 'unstated' = 'refusal',
  kind: 'total' | 'input' = 'total',
) => ({ learnt: { value: { tokens, kind }, from, sinceMs: 1000, untilMs: 9000 } })
const loaded = (tokens: number, sinceMs = 0) => ({
  server: { tokens, kind: 'total' as const, isLoaded: true, sinceMs },
})
const listed = (tokens: number) => ({
  server: { tokens, kind: 'total' as const, isLoaded: false, sinceMs: 0 },
})

const config = { configuredTokens: 32_000 }
const room = { configuredTokens: 16_000, reserve: { tokens: 4_000, of: 'profile' } } as const

test.each<[string, string, Partial<WindowSources>]>([
  ['nobody described it', '128000 total default', {}],
  ['the table knows the name', '128000 total table', { names: ['gpt-4o'] }],
  ['the table knows the name that answered', '8192 total table', { names: ['prod-chat', 'gpt-4-0613'] }],
  ['the server goes before the table', '16384 total server', { names: ['gpt-4o'], ...loaded(16_384) }],
  ['the operator before both', '32000 total config', { names: ['gpt-4o'], ...loaded(16_384), ...config }],
  // A refusal with numbers is a ceiling over everything,
  ['it refuses less than is set', '16000 total learnt', { ...config, ...learnt(16_000) }],
  ['it refuses less than is loaded', '16000 total learnt', { ...loaded(32_768), ...learnt(16_000) }],
  // raises neither the operator's figure nor what is loaded,
  ['it refuses more than is set', '32000 total config', { ...config, ...learnt(64_000) }],
  ['it refuses more than is loaded', '8192 total server', { ...loaded(8192), ...learnt(64_000) }],
  // and is known better than a table, a catalogue and a guess.
  ['not the table', '98304 input learnt', { names: ['gpt-4-0613'], ...learnt(98_304, 'refusal', 'input') }],
  ['not the catalogue', '64000 total learnt', { ...listed(32_000), ...learnt(64_000) }],
  ['not the guess', '1000000 total learnt', learnt(1_000_000)],
  // Of the prompt alone it binds if it leaves the prompt less.
  ['more for the prompt', '16000 total config', { ...room, ...learnt(13_000, 'refusal', 'input') }],
  ['less for the prompt', '11000 input learnt', { ...room, ...learnt(11_000, 'refusal', 'input') }],
  // A server that was started anew with 30,000 instead of 12,000 was held to 12,000 for the rest of the hour.
  ['stated before it refused', '12000 total learnt', { ...loaded(30_000, 500), ...learnt(12_000) }],
  ['stated since it refused', '30000 total server', { ...loaded(30_000, 2000), ...learnt(12_000) }],
  // What is only inferred never lowers the operator's figure, nor what is loaded,
  ...(['cut', 'unstated'] as const).flatMap((from): [string, string, Partial<WindowSources>][] => [
    [`${from}, but set`, '32000 total config', { ...config, ...learnt(4000, from) }],
    [`${from}, but loaded`, '8192 total server', { ...loaded(8192), ...learnt(4000, from) }],
  ]),
  ['suggested, but loaded', '8192 total server', { ...loaded(8192), suggestedTokens: 3000 }],
  ['suggested, but set', '32000 total config', { ...config, suggestedTokens: 3000 }],
  // it lowers a catalogue's figure, the table's and a guess, by the smaller of what is suggested,
  [
    'unstated, below a list',
    '8000 input learnt',
    { ...listed(32_000), ...learnt(8000, 'unstated', 'input') },
  ],
  ['suggested, below the table', '9000 input learnt', { names: ['gpt-4o'], suggestedTokens: 9000 }],
  ['suggested, below a cut', '6000 input learnt', { ...learnt(8000, 'cut'), suggestedTokens: 6000 }],
  ['unstated, above the guess', '128000 total default', learnt(500_000, 'unstated')],
  // and never goes below a prompt that was answered.
  ['suggested, below an answer', '7000 input learnt', { suggestedTokens: 3000, answeredTokens: 7000 }],
])('where %s: %s', (_, expected, sources) => {
  const { tokens, kind, source } = resolveWindow({ ...unknownWindow, ...sources })
  expect(`${tokens} ${kind} ${source}`).toBe(expected)
})

const overruled = (sources: Partial<WindowSources>) =>
  resolveWindow({ ...unknownWindow, ...sources, ...learnt(16_000) }).overruledTokens

test('the operator’s figure that a refusal overrules is named, and no other', () => {
  expect([overruled(config), overruled(loaded(32_768))]).toEqual([32_000, null])
})

test.each([{ configuredTokens: 100_000 }, learnt(90_000), loaded(90_000), {}])(
  'the operator’s ceiling holds over every source (%j)',
  (known) => {
    const whole = resolveWindow({ ...unknownWindow, ...known })
    expect(resolveWindow({ ...unknownWindow, ...known, maxTokens: 50_000 })).toEqual({
      ...whole,
      tokens: 50_000,
    })
    expect(resolveWindow({ ...unknownWindow, ...known, maxTokens: 500_000 })).toEqual(whole)
  },
)

const nowMs = 10_000_000
const atMs = nowMs - 60_000
const auto = namedProfile('default')
const fixed = namedProfile('default', { window: { tokens: 32_000 } })

const refused = { window: { value: { tokens: 8_192, kind: 'total' }, from: 'refusal', atMs } } as const
const stated = (tokens: number, hasChanged = false) =>
  ({
    stated: { value: { tokens, kind: 'total', isLoaded: true, hasChanged }, from: 'server', atMs },
  }) as const

/** What is told of a model of which so much was learnt, and of which the upstream says this to whom has no credential. */
async function told(known: ModelRecord, says: number | null = null, profile = auto): Promise<string> {
  const said: ServerWindow | null =
    says === null ? null : { tokens: says, kind: 'total', inputTokens: null, isLoaded: true }
  const { tokens, source } = await findOwnWindow(profile, 'nobody-knows-it', {
    upstreams: { addressOf: () => parseUpstreamAddress('http://upstream.test/v1') },
    serverWindows: { lookup: () => said, settled: async () => {} },
    learntOf: async () => known,
    nowMs: () => nowMs,
  })
  return `${tokens} ${source}`
}

test.each([
  ['no more is inferred than it has loaded', {}, '4096 server'],
  ['a larger prompt was answered: it has more now', { answeredTokens: 5_000 }, '6000 learnt'],
  ['less is inferred', learnt(3_000, 'unstated'), '3000 learnt'],
])('a request gets less than it asks for: %s', (_, known, window) => {
  const { tokens, source } = resolveWindow({
    ...unknownWindow,
    ...learnt(6_000, 'unstated'),
    ...loaded(4_096),
    requestTokens: 16_384,
    ...known,
  })
  expect(`${tokens} ${source}`).toBe(window)
})

// `foldgate explain` put what a request has its model loaded with in the place of what it had found: 16,384 where the operator's
// ceiling or a refusal said 8,192, and requests were sent by that.
test.each([
  ['it is the window', {}, auto, '16384 request'],
  ['the operator’s ceiling holds', {}, { ...auto, window: { ...auto.window, max: 8_192 } }, '8192 request'],
  ['a refusal of the model as it is loaded then states less', refused, auto, '8192 learnt'],
])('of a request that has its model loaded with 16,384 tokens: %s', async (_, known, profile, window) => {
  const asked: string[] = []
  const parts = {
    upstreams: { addressOf: () => parseUpstreamAddress('http://upstream.test/v1') },
    serverWindows: { lookup: () => null, settled: async () => {} },
    learntOf: async ({ model }: { readonly model: string }) => {
      asked.push(model)
      return known
    },
    nowMs: () => nowMs,
  }
  const { tokens, source } = await findOwnWindow(profile, 'nobody-knows-it', parts, 16_384)
  expect(`${tokens} ${source}`).toBe(window)
  expect(asked).toEqual(['nobody-knows-it[16384]'])
})

describe('what is told of a window by what was learnt', () => {
  test.each([
    ['nothing was: a guess', {}, null, '128000 default'],
    ['a refusal stated it', refused, null, '8192 learnt'],
    ['the server says it with a credential only', stated(16_384), null, '16384 server'],
    ['the server says another one now', stated(16_384), 24_000, '24000 server'],
    ['a refusal states less than the server', { ...refused, ...stated(16_384) }, 16_384, '8192 learnt'],
    [
      'the server was started anew after the refusal',
      { window: { ...refused.window, atMs: atMs - 1 }, ...stated(16_384, true) },
      16_384,
      '16384 server',
    ],
    [
      'refusals without numbers, but a larger prompt was answered',
      { window: { ...refused.window, from: 'unstated' }, answered: { value: 9_000, from: 'answer', atMs } },
      null,
      '9000 learnt',
    ],
    ['an hour ago', { window: { ...refused.window, atMs: nowMs - 3_600_000 } }, null, '128000 default'],
  ] as const)('%s', async (_, known, says, expected) => {
    expect(await told(known, says)).toBe(expected)
  })

  test('a refusal overrules the operator’s figure, as it does for requests', async () => {
    expect(await told({}, null, fixed)).toBe('32000 config')
    expect(await told(refused, null, fixed)).toBe('8192 learnt')
  })
})
