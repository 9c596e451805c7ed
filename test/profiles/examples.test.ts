import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkConfiguration } from '../../src/commands/check.ts'
import { readProfileFiles } from '../../src/config/profile-files.ts'
import { assistant, round, user } from '../compaction/sending.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { root } from '../docs/pages.ts'
import {
  builtInDirectory,
  examplesDirectory,
  exampleStand,
  grownTo,
  grownToShare,
  lastRound,
  openingFor,
  rawOf,
  standIns,
  talk,
  words,
  work,
} from './example-stand.ts'
import { times } from '../support/times.ts'

const files = (await readdir(examplesDirectory)).sort()
const names = files.map((file) => file.replace(/\.yaml$/, ''))

/** What `foldgate check` says where `--profiles` names this folder. */
async function checkFolder(profiles: string) {
  const cwd = await temporaryFolder()
  return checkConfiguration({
    flags: { profiles },
    env: {},
    cwd,
    builtInDirectory,
    model: 'gpt-4o',
    resolveWindow: () => ({ tokens: 128_000, kind: 'total', source: 'table' }),
  })
}

test('foldgate check finds the examples valid where it is pointed at their folder', async () => {
  const { text, exitCode } = await checkFolder(examplesDirectory)
  expect(exitCode).toBe(0)
  const [, listed = ''] = /^profiles: (.*)$/m.exec(text) ?? []
  expect(listed.split(', ')).toEqual(['default', 'small-local', ...names].sort())
  // They name no models, so that even then no request gets one that did not ask for it.
  expect(text).toContain('profile  default,')
})

test('nobody gets them unasked: no folder of profiles is read deeper than itself', async () => {
  const directory = await temporaryFolder({ 'mine.yaml': '', 'examples/broken.yaml': 'trigger: [' })
  const { profiles, problems } = await readProfileFiles({ builtInDirectory, directory, upstreams: null })
  expect(problems).toEqual([])
  expect([...profiles.keys()].sort()).toEqual(['default', 'mine', 'small-local'])
})

test.each(files)('%s tells editors its schema, and people what differs from its policy', async (file) => {
  const text = await readFile(join(examplesDirectory, file), 'utf8')
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../profile.schema.json')
  expect(text).toContain('# Where it differs from the policy that it expresses:')
  expect(text.split('\n').filter((line) => line.length > 120)).toEqual([])
})

test('docs/profiles.md lists each of them', async () => {
  const page = await readFile(join(root, 'docs/profiles.md'), 'utf8')
  expect(files.filter((file) => !page.includes(`(../profiles/examples/${file})`))).toEqual([])
})

test('they go with the package and the image, where the built-in ones are', async () => {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ files: expect.arrayContaining(['profiles']) })
  expect(await readFile(join(root, 'Dockerfile'), 'utf8')).toContain('\nCOPY profiles profiles\n')
})

/** Every fourth call reads the attempt log. */
const toolOf = (number: number): string => (number % 4 === 1 ? 'read_attempts' : 'read_file')

/** A result of so many characters between two ends that tell themselves. */
const ofLength = (characters: number): string =>
  'first words'.padEnd(characters - 'last words'.length, ' and so on') + 'last words'

/** One Foldgate with this example, before a model of such a window, for the tests of a block. */
function standFor(profile: string, windowTokens: number) {
  let at: Awaited<ReturnType<typeof exampleStand>>
  beforeAll(async () => {
    at = await exampleStand(profile, windowTokens)
  })
  afterAll(async () => at.close())
  return {
    send: async (...given: Parameters<typeof at.send>) => at.send(...given),
    opening: openingFor(windowTokens),
    windowTokens,
  }
}

describe('artifacts-above-a-fixed-threshold', () => {
  const { send, opening } = standFor('artifacts-above-a-fixed-threshold', 200_000)

  describe('an agent with results of 2,100 tokens', () => {
    const small = round('call_small', words('small result', 1_950))
    const grown = [...opening, ...small, ...work(75_000, 2_100)]

    test('nothing happens at 99,000 tokens, although the window has 200,000', async () => {
      const conversation = await grownTo(99_000, grown)
      const { incomingTokens, raw, reply } = await send(conversation)
      expect(incomingTokens).toBeGreaterThan(98_500)
      expect(incomingTokens).toBeLessThan(100_000)
      expect(reply.action).toBe('relayed')
      expect(raw).toEqual(rawOf(conversation))
    })

    test('above 100,000 old ones are shown with 1,600 characters and 24 lines at most, the ten newest messages as they are', async () => {
      const conversation = await grownTo(101_000, grown)
      const received = await send(conversation)
      expect(received.incomingTokens).toBeGreaterThan(100_000)
      expect(received.passes).toContain('preview')
      const shown = received.messages.filter(({ text }) => text.includes('of this result was left out'))
      expect(shown.length).toBeGreaterThan(20)
      expect(shown.filter(({ text }) => text.length > 1_600)).toEqual([])
      expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
      expect(received.sentTokens).toBeLessThanOrEqual(50_000)
    })

    test('of many lines it is the lines that count', async () => {
      const listing = times(700, (index) => `row ${index}`).join('\n')
      const conversation = await grownTo(101_000, [
        ...opening,
        ...round('call_list', listing),
        ...grown.slice(2),
      ])
      const { messages, passes } = await send(conversation)
      expect(passes).toContain('preview')
      const shown = messages[3]?.text ?? ''
      expect(shown.split('\n').length).toBeLessThanOrEqual(24)
      expect(shown.length).toBeLessThan(1_600)
    })
  })

  test('what cannot be freed so is folded, but for the task and the ten newest messages', async () => {
    const grown = [...opening, ...work(30_000, 1_950), ...talk(20_000, 1_900)]
    const conversation = await grownTo(101_000, grown)
    const received = await send(conversation)
    expect(received.incomingTokens).toBeGreaterThan(100_000)
    expect(received.passes).toEqual(['fold'])
    expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
    expect(received.raw.toSpliced(2, 1)).toEqual(rawOf([...opening, ...conversation.slice(-10)]))
  })
})

describe('evict-clear-then-summarize', () => {
  const { send, opening, windowTokens } = standFor('evict-clear-then-summarize', 128_000)

  describe('eviction', () => {
    test('a result of 25,000 tokens is a preview in the very request that first carries it', async () => {
      const result = `first lines ${words('result', 25_000)} last lines`
      const conversation = [...opening, ...round('call_1', result)]
      const { messages, passes, raw } = await send(conversation)
      expect(passes).toEqual(['preview'])
      const shown = messages.at(-1)?.text ?? ''
      expect(shown.length).toBeLessThanOrEqual(4_000)
      expect(shown).toMatch(/^first lines .* last lines$/s)
      expect(raw.slice(0, -1)).toEqual(rawOf(conversation.slice(0, -1)))
    })

    test('one of 19,000 is not', async () => {
      const conversation = [...opening, ...lastRound(19_000)]
      const { raw } = await send(conversation)
      expect(raw).toEqual(rawOf(conversation))
    })
  })

  describe('clearing', () => {
    const grown = [...opening, ...work(60_000, 1_500, toolOf)]

    test('below 0.6 of the window every result stays', async () => {
      const conversation = await grownToShare(0.59, windowTokens, grown)
      const { raw } = await send(conversation)
      expect(raw).toEqual(rawOf(conversation))
    })

    test('above it old ones go, but never those of the attempt log nor the newest six, and nothing is folded', async () => {
      const conversation = await grownToShare(0.61, windowTokens, grown)
      const received = await send(conversation)
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
      const large = [...opening, ...work(55_000, 6_000, toolOf)]
      const conversation = await grownToShare(0.61, windowTokens, large)
      const { messages } = await send(conversation)
      const results = messages.filter(({ role }) => role === 'tool')
      const cleared = results.map(({ text }) => text.startsWith('[cleared: '))
      expect(cleared).toEqual([true, false, true, true, ...times(6, () => false)])
    })
  })

  describe('the summary', () => {
    const grown = [...opening, ...talk(84_000, 1_200)]

    test('where there is nothing to clear, nothing changes below 0.85', async () => {
      const conversation = await grownToShare(0.84, windowTokens, grown)
      const { raw } = await send(conversation)
      expect(raw).toEqual(rawOf(conversation))
    })

    test('above it older messages are folded, the newest stay word for word', async () => {
      const conversation = await grownToShare(0.86, windowTokens, grown)
      const received = await send(conversation)
      expect(received.passes).toEqual(['fold'])
      expect(standIns(received)).toHaveLength(1)
      expect(received.raw.slice(0, 2)).toEqual(rawOf(opening))
      expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
    })
  })
})

describe('keep-ten-with-summaries', () => {
  const { send, opening, windowTokens } = standFor('keep-ten-with-summaries', 200_000)

  const grown = [...opening, ...talk(110_000, 1_200)]

  test('below three quarters of what is not fixed every byte goes on as it came', async () => {
    const conversation = await grownToShare(0.74, windowTokens, grown)
    const { raw, reply } = await send(conversation)
    expect(reply.action).toBe('relayed')
    expect(raw).toEqual(rawOf(conversation))
  })

  test('above them all but the task and the newest ten is represented, and those stay word for word', async () => {
    // Ten that are just small enough, the last of them so large that no eleventh has room.
    const large = [...opening, ...talk(95_000, 2_500)]
    const conversation = await grownToShare(0.76, windowTokens, large)
    const received = await send(conversation)
    expect(received.passes).toEqual(['fold'])
    expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
    expect(received.raw.toSpliced(2, 1)).toEqual(rawOf([...opening, ...conversation.slice(-10)]))
  })

  test('where there is room more of them stay', async () => {
    const conversation = await grownToShare(0.76, windowTokens, grown)
    const { raw, sentTokens } = await send(conversation)
    expect(raw.slice(-12)).toEqual(rawOf(conversation.slice(-12)))
    expect(sentTokens).toBeLessThan(windowTokens * 0.3)
  })

  test('old tool results are folded with their messages, neither shortened nor cleared before', async () => {
    const conversation = await grownToShare(0.76, windowTokens, [...opening, ...work(110_000, 2_400)])
    const received = await send(conversation)
    expect(received.passes).toEqual(['fold'])
    expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
  })
})

describe('thirty-recent-with-running-summary', () => {
  const { send, opening, windowTokens } = standFor('thirty-recent-with-running-summary', 128_000)

  const grown = [...opening, ...talk(80_000, 800)]

  test('below 0.8 every byte goes on as it came', async () => {
    const conversation = await grownToShare(0.79, windowTokens, grown)
    const { raw, reply } = await send(conversation)
    expect(reply.action).toBe('relayed')
    expect(raw).toEqual(rawOf(conversation))
  })

  test('above it all but the task and the thirty newest is represented, and those stay word for word', async () => {
    // Thirty that are just small enough, the last of them so large that there is no room for more.
    const conversation = await grownToShare(0.81, windowTokens, [...opening, ...talk(50_000, 950)])
    const received = await send(conversation)
    expect(received.passes).toEqual(['fold'])
    expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
    expect(received.raw.toSpliced(2, 1)).toEqual(rawOf([...opening, ...conversation.slice(-30)]))
  })

  test('tool results are folded with their messages, neither shortened nor cleared before', async () => {
    const conversation = await grownToShare(0.81, windowTokens, [...opening, ...work(80_000, 2_400)])
    expect((await send(conversation)).passes).toEqual(['fold'])
  })

  test('what follows is folded into the one that stands there', async () => {
    const conversation = await grownToShare(0.81, windowTokens, grown)
    const first = await send(conversation, 0)
    const longer = [...conversation, ...talk(60_000, 800)]
    const second = await send(longer, 0)
    expect(standIns(second)).toHaveLength(1)
    expect(standIns(second)).not.toEqual(standIns(first))
    expect(second.raw.slice(-30)).toEqual(rawOf(longer.slice(-30)))
  })
})

describe('twenty-turns-of-fifty-thousand', () => {
  const { send, opening } = standFor('twenty-turns-of-fifty-thousand', 128_000)

  describe('a tool result', () => {
    test('above 20,000 characters is cut in the first request that carries it: beginning and end stay', async () => {
      const { messages } = await send([...opening, ...round('call_1', ofLength(25_000))])
      const shown = messages.at(-1)?.text ?? ''
      expect(shown.length).toBeLessThanOrEqual(20_000)
      expect(shown.length).toBeGreaterThan(19_000)
      expect(shown).toMatch(/^first words.*last words$/s)
      expect(shown).toContain('of this result was left out')
    })

    test('of many short lines is cut by its characters alone', async () => {
      const lines = times(5_000, (index) => `line ${index}`).join('\n')
      const { messages } = await send([...opening, ...round('call_1', lines)])
      const shown = messages.at(-1)?.text ?? ''
      expect(shown.length).toBeLessThanOrEqual(20_000)
      expect(shown.length).toBeGreaterThan(19_000)
    })

    test('of fewer stays as it is', async () => {
      const conversation = [...opening, ...round('call_1', ofLength(19_500))]
      const { raw } = await send(conversation)
      expect(raw).toEqual(rawOf(conversation))
    })
  })

  describe('the budget of 50,000 tokens', () => {
    const grown = [...opening, ...talk(36_000, 1_000)]

    test('is left alone below, although the model could take more', async () => {
      const conversation = await grownTo(49_000, grown, 4)
      const { incomingTokens, raw } = await send(conversation)
      expect(incomingTokens).toBeGreaterThan(48_500)
      expect(incomingTokens).toBeLessThan(50_000)
      expect(raw).toEqual(rawOf(conversation))
    })

    test('passed, at most half of it is sent: old messages go, the first user message among them', async () => {
      const conversation = await grownTo(51_000, grown, 4)
      const received = await send(conversation)
      expect(received.incomingTokens).toBeGreaterThan(50_000)
      expect(received.sentTokens).toBeLessThanOrEqual(25_000)
      expect(received.raw.slice(-5)).toEqual(rawOf(conversation.slice(-5)))
      expect(received.raw).not.toContain(JSON.stringify(opening[1]))
      expect(standIns(received)).not.toEqual([])
    })
  })

  describe('the limit of twenty turns', () => {
    /** Turns of four messages each: request, call, result, reply. */
    const turns = times(21, (number) => [
      user(`Request ${number}`),
      ...round(`call_${number}`, `result ${number}`),
      assistant(`Reply ${number}`),
    ])

    test('twenty are left alone', async () => {
      const conversation = [...opening.slice(0, 1), ...turns.slice(0, 20).flat()]
      expect((await send(conversation)).raw).toEqual(rawOf(conversation))
    })

    test('with one more the older half of them goes, whole, and is represented', async () => {
      const received = await send([...opening.slice(0, 1), ...turns.flat()])
      expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[1]])
      expect(received.raw.toSpliced(1, 1)).toEqual(rawOf([...opening.slice(0, 1), ...turns.slice(10).flat()]))
    })
  })
})
