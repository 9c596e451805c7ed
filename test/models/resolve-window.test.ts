import { describe, expect, test } from 'vitest'
import { resolveWindow, type WindowSources } from '../../src/models/resolve-window.ts'
import { unknownWindow } from '../support/models.ts'
import type { ServerWindow } from '../../src/models/discovery/server-windows.ts'
import type { ModelRecord } from '../../src/models/model-record.ts'
import { findOwnWindow } from '../../src/models/own-window.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { parseUpstreamAddress } from '../../src/upstream/address.ts'

const resolved = (sources: Partial<WindowSources>): string => {
  const { tokens, kind, source } = resolveWindow({ ...unknownWindow, ...sources })
  return `${tokens} ${kind} ${source}`
}

const learnt = (
  tokens: number,
  from: 'refusal' | 'cut' | 'unstated' = 'refusal',
  kind: 'total' | 'input' = 'total',
) => ({
  learnt: { value: { tokens, kind }, from, sinceMs: 1000, untilMs: 9000 },
})
const loaded = (tokens: number, sinceMs = 0) => ({
  server: { tokens, kind: 'total' as const, isLoaded: true, sinceMs },
})
const listed = (tokens: number) => ({
  server: { tokens, kind: 'total' as const, isLoaded: false, sinceMs: 0 },
})

describe('by rank', () => {
  test('a model that nobody described gets the default', () => {
    expect(resolved({})).toBe('128000 total default')
  })

  test('the table knows a model by its name, or by the one that answered', () => {
    expect(resolved({ names: ['gpt-4o'] })).toBe('128000 total table')
    expect(resolved({ names: ['prod-chat', 'gpt-4-0613'] })).toBe('8192 total table')
  })

  test('what the server says goes before the table, and the operator’s figure before both', () => {
    expect(resolved({ names: ['gpt-4o'], ...loaded(16_384) })).toBe('16384 total server')
    expect(resolved({ names: ['gpt-4o'], ...loaded(16_384), configuredTokens: 32_000 })).toBe(
      '32000 total config',
    )
  })
})

describe('what a refusal said with numbers', () => {
  test('is a ceiling over everything, the operator’s figure included, which is named', () => {
    expect(resolved({ configuredTokens: 32_000, ...learnt(16_000) })).toBe('16000 total learnt')
    expect(resolved({ ...loaded(32_768), ...learnt(16_000) })).toBe('16000 total learnt')
    expect(
      resolveWindow({ ...unknownWindow, configuredTokens: 32_000, ...learnt(16_000) }).overruledTokens,
    ).toBe(32_000)
    expect(
      resolveWindow({ ...unknownWindow, ...loaded(32_768), ...learnt(16_000) }).overruledTokens,
    ).toBeNull()
  })

  test('raises neither the operator’s figure nor what is loaded', () => {
    expect(resolved({ configuredTokens: 32_000, ...learnt(64_000) })).toBe('32000 total config')
    expect(resolved({ ...loaded(8192), ...learnt(64_000) })).toBe('8192 total server')
  })

  test('is known better than a table, a catalogue and a guess', () => {
    expect(resolved({ names: ['gpt-4-0613'], ...learnt(98_304, 'refusal', 'input') })).toBe(
      '98304 input learnt',
    )
    expect(resolved({ ...listed(32_000), ...learnt(64_000) })).toBe('64000 total learnt')
    expect(resolved(learnt(1_000_000))).toBe('1000000 total learnt')
  })

  test('of the prompt alone binds if it leaves the prompt less', () => {
    const total = { configuredTokens: 16_000, reserveTokens: 4_000 }
    expect(resolved({ ...total, ...learnt(13_000, 'refusal', 'input') })).toBe('16000 total config')
    expect(resolved({ ...total, ...learnt(11_000, 'refusal', 'input') })).toBe('11000 input learnt')
  })

  // A server that was started anew with 30,000 instead of 12,000 was held to 12,000 for the rest of the hour.
  test('is over once the server states a larger window that it did not state then', () => {
    expect(resolved({ ...loaded(30_000, 500), ...learnt(12_000) })).toBe('12000 total learnt')
    expect(resolved({ ...loaded(30_000, 2000), ...learnt(12_000) })).toBe('30000 total server')
  })
})

describe('what is only inferred', () => {
  test.each(['cut', 'unstated'] as const)(
    'by way of %s never lowers the operator’s figure, nor what is loaded',
    (from) => {
      expect(resolved({ configuredTokens: 32_000, ...learnt(4000, from) })).toBe('32000 total config')
      expect(resolved({ ...loaded(8192), ...learnt(4000, from) })).toBe('8192 total server')
      expect(resolved({ ...loaded(8192), suggestedTokens: 3000 })).toBe('8192 total server')
      expect(resolved({ configuredTokens: 32_000, suggestedTokens: 3000 })).toBe('32000 total config')
    },
  )

  test('lowers a catalogue’s figure, the table’s and a guess, by the smaller of what is suggested', () => {
    expect(resolved({ ...listed(32_000), ...learnt(8000, 'unstated', 'input') })).toBe('8000 input learnt')
    expect(resolved({ names: ['gpt-4o'], suggestedTokens: 9000 })).toBe('9000 input learnt')
    expect(resolved({ ...learnt(8000, 'cut'), suggestedTokens: 6000 })).toBe('6000 input learnt')
    expect(resolved(learnt(500_000, 'unstated'))).toBe('128000 total default')
  })

  test('never goes below a prompt that was answered', () => {
    expect(resolved({ suggestedTokens: 3000, answeredTokens: 7000 })).toBe('7000 input learnt')
  })
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
const auto = { ...profileSchema.parse({}), name: 'default' }
const fixed = { ...profileSchema.parse({ window: { tokens: 32_000 } }), name: 'default' }

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
      {
        window: { ...refused.window, from: 'unstated' },
        answered: { value: 9_000, from: 'answer', atMs },
      },
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
