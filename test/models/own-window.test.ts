import { describe, expect, test } from 'vitest'
import { findOwnWindow } from '../../src/models/own-window.ts'
import type { ModelRecord } from '../../src/models/model-record.ts'
import type { ServerWindow } from '../../src/models/discovery/server-windows.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { parseUpstreamAddress } from '../../src/upstream/address.ts'

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
async function told(learnt: ModelRecord, says: number | null = null, profile = auto): Promise<string> {
  const said: ServerWindow | null =
    says === null ? null : { tokens: says, kind: 'total', inputTokens: null, isLoaded: true }
  const { tokens, source } = await findOwnWindow(profile, 'nobody-knows-it', {
    upstreams: { addressOf: () => parseUpstreamAddress('http://upstream.test/v1') },
    serverWindows: { lookup: () => said, settled: async () => {} },
    learntOf: async () => learnt,
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
  ] as const)('%s', async (_, learnt, says, expected) => {
    expect(await told(learnt, says)).toBe(expected)
  })

  test('a refusal overrules the operator’s figure, as it does for requests', async () => {
    expect(await told({}, null, fixed)).toBe('32000 config')
    expect(await told(refused, null, fixed)).toBe('8192 learnt')
  })
})
