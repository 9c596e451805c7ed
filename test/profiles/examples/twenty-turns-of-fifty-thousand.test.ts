import { describe, expect, test } from 'vitest'
import { assistant, round, user } from '../../compaction/sending.ts'
import { grownTo, openingFor, talk } from './example-conversation.ts'
import { exampleStand, rawOf, standIns } from './example-stand.ts'

const windowTokens = 128_000
const stand = () => exampleStand('twenty-turns-of-fifty-thousand', windowTokens)
const opening = openingFor(windowTokens)

/** A result of so many characters between two ends that tell themselves. */
function ofLength(characters: number): string {
  return 'first words'.padEnd(characters - 'last words'.length, ' and so on') + 'last words'
}

describe('a tool result', () => {
  test('above 20,000 characters is cut in the first request that carries it: beginning and end stay', async () => {
    await using at = await stand()
    const { messages } = await at.send([...opening, ...round('call_1', ofLength(25_000))])
    const shown = messages.at(-1)?.text ?? ''
    expect(shown.length).toBeLessThanOrEqual(20_000)
    expect(shown.length).toBeGreaterThan(19_000)
    expect(shown).toMatch(/^first words.*last words$/s)
    expect(shown).toContain('of this result was left out')
  })

  test('of many short lines is cut by its characters alone', async () => {
    await using at = await stand()
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`).join('\n')
    const { messages } = await at.send([...opening, ...round('call_1', lines)])
    const shown = messages.at(-1)?.text ?? ''
    expect(shown.length).toBeLessThanOrEqual(20_000)
    expect(shown.length).toBeGreaterThan(19_000)
  })

  test('of fewer stays as it is', async () => {
    await using at = await stand()
    const conversation = [...opening, ...round('call_1', ofLength(19_500))]
    const { raw } = await at.send(conversation)
    expect(raw).toEqual(rawOf(conversation))
  })
})

describe('the budget of 50,000 tokens', () => {
  const grown = [...opening, ...talk(36_000, 1_000)]

  test('is left alone below, although the model could take more', async () => {
    await using at = await stand()
    const conversation = await grownTo(49_000, grown, 4)
    const { incomingTokens, raw } = await at.send(conversation)
    expect(incomingTokens).toBeGreaterThan(48_500)
    expect(incomingTokens).toBeLessThan(50_000)
    expect(raw).toEqual(rawOf(conversation))
  })

  test('passed, at most half of it is sent: old messages go, the first user message among them', async () => {
    await using at = await stand()
    const conversation = await grownTo(51_000, grown, 4)
    const received = await at.send(conversation)
    expect(received.incomingTokens).toBeGreaterThan(50_000)
    expect(received.sentTokens).toBeLessThanOrEqual(25_000)
    expect(received.raw.slice(-5)).toEqual(rawOf(conversation.slice(-5)))
    expect(received.raw).not.toContain(JSON.stringify(opening[1]))
    expect(standIns(received)).not.toEqual([])
  })
})

describe('the limit of twenty turns', () => {
  /** Turns of four messages each: request, call, result, reply. */
  const turns = Array.from({ length: 21 }, (_, number) => [
    user(`Request ${number}`),
    ...round(`call_${number}`, `result ${number}`),
    assistant(`Reply ${number}`),
  ])

  test('twenty are left alone', async () => {
    await using at = await stand()
    const conversation = [...opening.slice(0, 1), ...turns.slice(0, 20).flat()]
    expect((await at.send(conversation)).raw).toEqual(rawOf(conversation))
  })

  test('with one more the older half of them goes, whole, and is represented', async () => {
    await using at = await stand()
    const received = await at.send([...opening.slice(0, 1), ...turns.flat()])
    expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[1]])
    expect(received.raw.toSpliced(1, 1)).toEqual(rawOf([...opening.slice(0, 1), ...turns.slice(10).flat()]))
  })
})
