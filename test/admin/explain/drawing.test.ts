import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { drawExplanation, messageGroups } from '../../../src/admin/explain/explanation-text.ts'
import type { ExplainedMessage, Explanation } from '../../../src/admin/explain/explanation.ts'
import { round, system, user } from '../../compaction/sending.ts'
import { asked, askedLong, long, short } from './asked.ts'

const paper = { columns: 100, color: false }
const linesOf = (explanation: Explanation, columns = 100): readonly string[] =>
  drawExplanation(explanation, { columns, color: false }).split('\n')

describe('an explanation for people', () => {
  test('says in its first lines what is asked about and what would be done', async () => {
    const text = drawExplanation(await askedLong(), paper)
    expect(text).toMatch(/^model +gpt-4o\nprofile +default: no other profile matches/)
    expect(text).toMatch(/^window +16,000 tokens for prompt and reply, from the profile$/m)
    expect(text).toMatch(/^budget +12,000 tokens; 4,000 are kept for the reply \(window\.output_reserve\)$/m)
    expect(text).toMatch(
      /^ratio +1 of the model's tokens for one of ours: what is known of the model's family/m,
    )
    expect(text).toMatch(/^begins +a compaction where the prompt exceeds 12,000 tokens$/m)
    expect(text).toMatch(/^came +[\d,]+ tokens in 83 messages: \d\.\d times the budget$/m)
    expect(text).toMatch(/^would +be compacted to [\d,]+ tokens in \d+ messages by .*fold/m)
    expect(drawExplanation(await asked(short), paper)).toMatch(/^would +go on as it came, byte for byte$/m)
  })

  test('draws where the tokens are, on one scale', async () => {
    const told = await askedLong()
    const lines = linesOf(told)
    const results = lines.find((line) => line.startsWith('tool results')) ?? ''
    const [came = '', sent = ''] = results.match(/[█▏▎▍▌▋▊▉]+/g) ?? []
    expect(came.length).toBeGreaterThan(3 * sent.length)
    expect(lines.find((line) => line.startsWith('system'))).toMatch(/▏/)
    expect(lines.find((line) => line.startsWith('media'))).toBeUndefined()
    const total = lines.find((line) => line.startsWith('total')) ?? ''
    expect(total).toContain(told.tokens.received.total.toLocaleString('en-US'))
    expect(total).toContain(told.tokens.sent.total.toLocaleString('en-US'))
  })

  test('names every threshold in ascending order', async () => {
    const profile = { window: { tokens: 16_000 }, trigger: 0.8, target: 0.4, preview: { at: 0.6 } }
    const { thresholds, ...told } = await asked(long, { profiles: { default: profile } })
    const { target, preview_at: preview, trigger } = thresholds
    const [fixedAt, ...others] = [told.fixed.tokens, target, preview, trigger].map((tokens) =>
      tokens?.toLocaleString('en-US'),
    )
    const line = linesOf({ ...told, thresholds }).find((each) => each.startsWith('thresholds'))
    expect(line).toBe(
      `thresholds  fixed ${fixedAt}, target ${others[0]}, preview ${others[1]}, trigger ${others[2]}`,
    )
  })

  test('tells warnings in whole words', async () => {
    const guessed = await asked({ ...short, model: 'nobody-knows' }, { profiles: { default: {} } })
    const words = 'warning The window of "nobody-knows" is not known: 128,000 tokens are a guess.'
    expect(drawExplanation(guessed, paper).replaceAll(/\s+/g, ' ')).toContain(words)
  })

  test('holds no word of the conversation, in the worst of its names neither', async () => {
    const secret = [system('SECRET'), user('SECRET'), ...round('a', 'SECRET', 'read', { path: 'SECRET' })]
    const told = await asked({ model: 'gpt-4o', messages: secret })
    expect(drawExplanation(told, paper)).not.toContain('SECRET')
    const named = round('a', 'done', 'rm\u001B[2J\u202Etool\n')
    const text = drawExplanation(await asked({ model: 'x\u001B]0;y\u0007', messages: named }), paper)
    // What a terminal would act on is written out.
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
    expect(text).toContain(String.raw`rm\u001b[2J\u202etool`)
    expect(text).toContain(String.raw`x\u001b]0;y\u0007`)
  })

  test('stays within the terminal, and has colours only where they are wanted', async () => {
    const told = await askedLong()
    for (const columns of [40, 60, 80, 200]) {
      const widths = linesOf(told, columns).map((line) => line.length)
      expect(Math.max(...widths)).toBeLessThanOrEqual(columns)
    }
    const plain = drawExplanation(told, paper)
    const colored = drawExplanation(told, { columns: 100, color: true })
    expect(colored).toContain('\u001B[32m')
    expect(stripVTControlCharacters(colored)).toBe(plain)
  })
})

const message = (
  index: number | null,
  treatment: ExplainedMessage['treatment'] = 'kept',
): ExplainedMessage => ({
  index,
  role: 'user',
  kind: null,
  tool: null,
  treatment,
  pinned: null,
  received_tokens: 1,
  sent_tokens: 1,
  stands_for: null,
})

const many = (count: number, of: (index: number) => ExplainedMessage): ExplainedMessage[] =>
  Array.from({ length: count }, (_, index) => of(index))

describe('the table of messages', () => {
  test('has a row for each message while there are few', async () => {
    const rows = linesOf(await asked(short)).filter((line) => /^ *\d+ .* kept/.test(line))
    expect(rows).toHaveLength(8)
    expect(rows[0]).toContain('kept: system message')
    expect(rows[3]).toMatch(/kept +tool +read_file$/)
  })

  test('tells long runs in one row, with the sums', async () => {
    const told = await askedLong()
    expect(messageGroups(told.messages).flat()).toEqual(told.messages)
    const folded = told.messages.filter(({ treatment }) => treatment === 'folded')
    const first = folded[0]?.index ?? -1
    const row = linesOf(told).find((line) => line.trimStart().startsWith(`${first}–`)) ?? ''
    expect(row).toMatch(/folded +\d+ assistant, \d+ tool +read_file$/)
    const tokens = folded.reduce((sum, { received_tokens }) => sum + (received_tokens ?? 0), 0)
    expect(row).toContain(` ${tokens.toLocaleString('en-US')}  `)
    expect(linesOf(told).length).toBeLessThan(45)
  })

  test('tells treatments that change all the time together, and nothing pinned or written with others', () => {
    const alternating = many(40, (index) => message(index, index % 2 === 0 ? 'kept' : 'cleared'))
    expect(messageGroups(alternating)).toHaveLength(1)
    const withRecap = [...alternating, { ...message(null, 'recap') }, ...many(9, (at) => message(40 + at))]
    expect(messageGroups(withRecap).map((group) => group.length)).toEqual([40, 1, 9])
    const pinned = alternating.with(20, { ...message(20), pinned: 'task' as const })
    expect(messageGroups(pinned).map((group) => group.length)).toEqual([20, 1, 19])
  })
})
