import { describe, expect, test } from 'vitest'
import { round } from '../../compaction/sending.ts'
import { grownToShare, lastRound, openingFor, talk, words, work } from './example-conversation.ts'
import { exampleStand, rawOf, standIns } from './example-stand.ts'

// That of the model, from the built-in table.
const windowTokens = 128_000
const stand = () => exampleStand('evict-clear-then-summarize', windowTokens)
const opening = openingFor(windowTokens)

/** Every fourth call reads the attempt log. */
function toolOf(number: number): string {
  return number % 4 === 1 ? 'read_attempts' : 'read_file'
}

describe('eviction', () => {
  test('a result of 25,000 tokens is a preview in the very request that first carries it', async () => {
    await using at = await stand()
    const result = `first lines ${words('result', 25_000)} last lines`
    const conversation = [...opening, ...round('call_1', result)]
    const { messages, passes, raw } = await at.send(conversation)
    expect(passes).toEqual(['preview'])
    const shown = messages.at(-1)?.text ?? ''
    expect(shown.length).toBeLessThanOrEqual(4_000)
    expect(shown).toMatch(/^first lines .* last lines$/s)
    expect(raw.slice(0, -1)).toEqual(rawOf(conversation.slice(0, -1)))
  })

  test('one of 19,000 is not', async () => {
    await using at = await stand()
    const conversation = [...opening, ...lastRound(19_000)]
    const { raw } = await at.send(conversation)
    expect(raw).toEqual(rawOf(conversation))
  })
})

describe('clearing', () => {
  const grown = [...opening, ...work(60_000, 1_500, toolOf)]

  test('below 0.6 of the window every result stays', async () => {
    await using at = await stand()
    const conversation = await grownToShare(0.59, windowTokens, grown)
    const { raw } = await at.send(conversation)
    expect(raw).toEqual(rawOf(conversation))
  })

  test('above it old ones go, but never those of the attempt log nor the newest six, and nothing is folded', async () => {
    await using at = await stand()
    const conversation = await grownToShare(0.61, windowTokens, grown)
    const received = await at.send(conversation)
    expect(received.passes).toEqual(['clear'])
    expect(received.raw).toHaveLength(conversation.length)
    expect(standIns(received)).toEqual([])
    const sent = rawOf(conversation)
    const changed = received.messages.filter(({ raw }, index) => raw !== sent[index])
    expect(changed.length).toBeGreaterThan(10)
    expect(
      changed.filter(({ text }) => !/^\[cleared: result of read_file, \d+ tokens\]$/.test(text)),
    ).toEqual([])
    // The oldest result and the third are gone, the log between them stands.
    expect(received.raw[3]).not.toBe(sent[3])
    expect(received.raw[5]).toBe(sent[5])
    expect(received.raw[7]).not.toBe(sent[7])
    expect(received.raw.slice(-12)).toEqual(sent.slice(-12))
  })

  test('the newest six results stay, even where more would have to go', async () => {
    await using at = await stand()
    const large = [...opening, ...work(55_000, 6_000, toolOf)]
    const conversation = await grownToShare(0.61, windowTokens, large)
    const { messages } = await at.send(conversation)
    const results = messages.filter(({ role }) => role === 'tool')
    const cleared = results.map(({ text }) => text.startsWith('[cleared: '))
    expect(cleared).toEqual([true, false, true, true, ...Array.from({ length: 6 }, () => false)])
  })
})

describe('the summary', () => {
  const grown = [...opening, ...talk(84_000, 1_200)]

  test('where there is nothing to clear, nothing changes below 0.85', async () => {
    await using at = await stand()
    const conversation = await grownToShare(0.84, windowTokens, grown)
    const { raw } = await at.send(conversation)
    expect(raw).toEqual(rawOf(conversation))
  })

  test('above it older messages are folded, the newest stay word for word', async () => {
    await using at = await stand()
    const conversation = await grownToShare(0.86, windowTokens, grown)
    const received = await at.send(conversation)
    expect(received.passes).toEqual(['fold'])
    expect(standIns(received)).toHaveLength(1)
    expect(received.raw.slice(0, 2)).toEqual(rawOf(opening))
    expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
  })
})
