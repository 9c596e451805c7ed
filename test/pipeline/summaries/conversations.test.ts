import { describe, expect, test } from 'vitest'
import { words, round } from '../../support/counting-server.ts'
import type { TestMessage } from '../../support/conversations.ts'
import { json } from '../../support/fake-upstream.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'
import { contentOf, recapsIn, summariesIn } from './growing-agent.ts'
import { countedAlike, roundsIn, summaryStand, type SummaryStandOptions } from './summary-stand.ts'

const user = (content: string): TestMessage => ({ role: 'user', content })
const system = (content: string): TestMessage => ({ role: 'system', content })
const done: TestMessage = { role: 'assistant', content: 'Done.' }
const weekly = user('And now look at the weekly run, please: WK-77.')
const rounds = (from: number, count: number): readonly TestMessage[] =>
  Array.from({ length: count }, (_, index) => {
    const named = `src/f${from + index}.ts: build BLD-${7000 + from + index} ended.`
    return round(from + index, `${named} ${words(950, index)}`)
  }).flat()

type Sent = {
  readonly received: readonly string[]
  readonly action: string | null
  readonly summary: string | null
}

/** A client whose conversation a test writes, with time for summaries after each request. */
async function talk(options: SummaryStandOptions = {}) {
  const requests: { readonly body: Buffer }[] = []
  const stand = await summaryStand({
    script: (request) => {
      requests.push(request)
      return json({ choices: [{ index: 0, message: done, finish_reason: 'stop' }] })
    },
    ...options,
  })
  const messages = [system('You repair programs.'), user('Repair what the nightly run breaks.')]
  async function say(more: readonly TestMessage[]): Promise<Sent> {
    messages.push(...more)
    const reply = await postChat(stand.url, chatOf(messages))
    expect(reply.status).toBe(200)
    await stand.quiet()
    return {
      received: rawMessages(requests.at(-1)),
      action: reply.action,
      summary: reply.header('x-foldgate-summary'),
    }
  }
  return { stand, say, [Symbol.asyncDispose]: stand[Symbol.asyncDispose] }
}

const isCompacted = ({ action }: Sent): boolean => action === 'compacted'

/** Rounds that are appended one at a time, up to the first request for which this holds. */
async function growUntil(
  at: Awaited<ReturnType<typeof talk>>,
  from: number,
  isLast: (sent: Sent) => boolean,
): Promise<Sent> {
  for (let index = from; index < from + 20; index += 1) {
    const sent = await at.say(rounds(index, 1))
    if (isLast(sent)) return sent
  }
  throw new Error('no such request came')
}

describe('summaries of conversations of several turns', () => {
  test('a new user message between asking and the compaction: the summary stands before it, and it stays word for word', async () => {
    await using at = await talk()
    await growUntil(at, 1, ({ summary }) => summary === 'pending')
    expect(at.stand.model.calls).toHaveLength(1)
    const before = await at.say([done, weekly])
    expect(before.action).toBe('relayed')
    const due = await growUntil(at, 50, isCompacted)
    expect(due.summary).toBe('ready')
    const [text = ''] = summariesIn(due)
    expect(text).toContain(at.stand.model.calls[0]?.answer?.trim() ?? 'none')
    expect(due.received).toContain(JSON.stringify(weekly))
    const places = [
      due.received.findIndex((message) => message.includes('<conversation-summary>')),
      due.received.indexOf(JSON.stringify(weekly)),
    ]
    expect(places).toEqual(places.toSorted((one, other) => one - other))
  })

  test('a frontier behind the latest user message: one summary before it, one behind it, nothing in both', async () => {
    await using at = await talk()
    await at.say(rounds(1, 3))
    await at.say([done, weekly])
    let sent = await growUntil(at, 10, isCompacted)
    // One compaction after the other, until the frontier has passed the user's message far enough.
    for (let tries = 0; summariesIn(sent).length < 2 && tries < 4; tries += 1)
      sent = await growUntil(at, 30 + 20 * tries, ({ received }) => !isBeginning(sent.received, received))
    const texts = summariesIn(sent)
    expect(texts).toHaveLength(2)
    const order = sent.received.map((message) =>
      message.includes('<conversation-summary>')
        ? 'summary'
        : message === JSON.stringify(weekly)
          ? 'user'
          : '',
    )
    expect(order.filter((what) => what !== '')).toEqual(['summary', 'user', 'summary'])
    const read = at.stand.model.calls.flatMap(({ text }) => roundsIn(text))
    expect(new Set(read).size).toBe(read.length)
    expect(texts[0]).toContain('BLD-7001')
    expect(texts[1]).not.toContain('BLD-7001')
  })

  // Where the run before the latest user message had grown by a word or two, its summary was not made anew, and a recap
  // of everything took the place of the one that stood.
  test('a summary that stands stays where it is not worth making anew, and a recap stands for what came since', async () => {
    const rule = system('From now on answer in verse (rule R-4711).')
    await using at = await talk()
    await at.say(rounds(1, 3))
    await at.say([done, rule, user('Go on.')])
    const first = await growUntil(at, 10, isCompacted)
    const [standing = ''] = summariesIn(first)
    expect(standing).toContain('BLD-7001')
    expect(first.received).toContain(JSON.stringify(rule))
    const next = await growUntil(at, 30, ({ received }) => !received.includes(JSON.stringify(rule)))
    expect(summariesIn(next)[0]).toBe(standing)
    const texts = next.received.map(contentOf)
    const place = texts.indexOf(standing)
    expect(texts[place + 1]).toContain('<conversation-recap>')
    expect(texts[place + 1]).toContain('R-4711')
    expect(texts[place + 2]).toBe('Go on.')
  })

  test('what further turns fold goes into one summary of them all', async () => {
    await using at = await talk({ profile: { window: countedAlike } })
    let sent: Sent | null = null
    for (let turn = 0; turn < 6; turn += 1) {
      for (const number of [1, 2]) expect(recapsIn(await at.say(rounds(10 * turn + number, 1)))).toEqual([])
      sent = await at.say([done, user(`Turn ${turn}: go on with T-${turn}00.`)])
    }
    expect(sent?.summary).toBe('ready')
    expect(summariesIn(sent ?? { received: [] }).length).toBeGreaterThan(0)
    expect(recapsIn(sent ?? { received: [] })).toEqual([])
    expect(sent?.received).toContain(JSON.stringify(user('Turn 5: go on with T-500.')))
    const { calls } = at.stand.model
    const read = calls.flatMap(({ text }) => roundsIn(text))
    expect(new Set(read).size).toBe(read.length)
    // No summary stands in what is summarised as the words of the user, nor in another summary.
    for (const text of [...summariesIn(sent ?? { received: [] }), ...calls.map((call) => call.text)])
      expect(text.replace('<conversation-summary>', '')).not.toMatch(/<conversation-(?:summary|recap)>/)
    for (const { text } of calls) expect(text).not.toContain('<conversation-summary>')
  })

  test('system messages in the middle are quoted word for word beside the summary, whatever the model makes of them', async () => {
    const rule = 'From now on answer in verse (rule R-4711).'
    await using at = await talk()
    await at.say([...rounds(1, 2), done])
    await at.say([system(rule), ...rounds(3, 1)])
    const due = await growUntil(at, 10, isCompacted)
    expect(due.summary).toBe('ready')
    expect(due.received).not.toContain(JSON.stringify(system(rule)))
    expect(summariesIn(due)).toEqual([expect.stringContaining(`System message: ${rule}`)])
    // Also in the summaries that continue it.
    const next = await growUntil(at, 40, ({ received }) => !isBeginning(due.received, received))
    expect(summariesIn(next)).toEqual([expect.stringContaining(`System message: ${rule}`)])
  })
})
