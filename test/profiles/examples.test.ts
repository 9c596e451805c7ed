import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkConfiguration } from '../../src/commands/check.ts'
import { readProfileFiles } from '../../src/config/configuration.ts'
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

const roleOf = (message: object | undefined): unknown =>
  message !== undefined && 'role' in message ? message.role : undefined

/** One Foldgate with this example, before a model of such a window, for the tests of a block. */
function standFor(profile: string, windowTokens: number) {
  let at: Awaited<ReturnType<typeof exampleStand>>
  beforeAll(async () => {
    at = await exampleStand(profile, windowTokens)
  })
  afterAll(async () => at.close())
  const send = async (...given: Parameters<typeof at.send>) => at.send(...given)
  return {
    send,
    summaryCalls: () => at.summaryCalls(),
    opening: openingFor(windowTokens),
    toShare: (share: number, grown: readonly object[]) => grownToShare(share, windowTokens, grown),
    /** Sends it, which changes nothing. */
    expectUntouched: async (conversation: readonly object[]) => {
      const received = await send(conversation)
      expect([received.reply.action, received.raw]).toEqual(['relayed', rawOf(conversation)])
      return received
    },
    /**
     * Sends it: all but the opening and so many of the newest messages is represented by one message. If the first of them
     * is an answer, what the user said before it stays with it.
     */
    expectFolded: async (conversation: readonly object[], recent: number) => {
      const received = await send(conversation)
      expect(received.passes).toEqual(['fold'])
      expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[2]])
      const [before, first] = conversation.slice(-recent - 1)
      const isAnswer = roleOf(first) === 'assistant' && roleOf(before) === 'user'
      const kept = [...conversation.slice(0, 2), ...conversation.slice(isAnswer ? -recent - 1 : -recent)]
      expect(received.raw.toSpliced(2, 1)).toEqual(rawOf(kept))
      return received
    },
  }
}

describe('artifacts-above-a-fixed-threshold', () => {
  const at = standFor('artifacts-above-a-fixed-threshold', 200_000)
  const { send, opening } = at
  const grown = [...opening, ...round('call_small', words('small result', 1_950)), ...work(75_000, 2_100)]

  test('nothing happens at 99,000 tokens, although the window has 200,000', async () => {
    const { incomingTokens } = await at.expectUntouched(await grownTo(99_000, grown))
    expect(incomingTokens).toBeGreaterThan(98_500)
    expect(incomingTokens).toBeLessThan(100_000)
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
    // Of many lines it is the lines that count.
    const listing = round('call_list', times(700, (index) => `row ${index}`).join('\n'))
    const { messages } = await send(await grownTo(101_000, [...opening, ...listing, ...grown.slice(2)]))
    const listed = messages[3]?.text ?? ''
    expect(listed.split('\n').length).toBeLessThanOrEqual(24)
    expect(listed.length).toBeLessThan(1_600)
  })

  test('what cannot be freed so is folded, but for the task and the ten newest messages', async () => {
    const talkative = [...opening, ...work(30_000, 1_950), ...talk(20_000, 1_900)]
    const { incomingTokens } = await at.expectFolded(await grownTo(101_000, talkative), 10)
    expect(incomingTokens).toBeGreaterThan(100_000)
  })
})

describe('evict-clear-then-summarize', () => {
  const at = standFor('evict-clear-then-summarize', 128_000)
  const { send, opening } = at

  test('a result of 25,000 tokens is a preview in the very request that first carries it, one of 19,000 is not', async () => {
    const conversation = [...opening, ...round('call_1', `first lines ${words('result', 25_000)} last lines`)]
    const { messages, passes, raw } = await send(conversation)
    expect(passes).toEqual(['preview'])
    const shown = messages.at(-1)?.text ?? ''
    expect(shown.length).toBeLessThanOrEqual(4_000)
    expect(shown).toMatch(/^first lines .* last lines$/s)
    expect(raw.slice(0, -1)).toEqual(rawOf(conversation.slice(0, -1)))
    await at.expectUntouched([...opening, ...lastRound(19_000)])
  })

  test('above 0.6 of the window old results go, but never those of the attempt log nor the newest six', async () => {
    const grown = [...opening, ...work(60_000, 1_500, toolOf)]
    await at.expectUntouched(await at.toShare(0.59, grown))
    const conversation = await at.toShare(0.61, grown)
    const received = await send(conversation)
    expect([received.passes, standIns(received)]).toEqual([['clear'], []])
    const sent = rawOf(conversation)
    const changed = received.messages.filter(({ raw }, index) => raw !== sent[index])
    expect(changed.length).toBeGreaterThan(10)
    const cleared = /^\[cleared: result of read_file, \d+ tokens\]$/
    expect(changed.filter(({ text }) => !cleared.test(text))).toEqual([])
    // The oldest result and the third are gone, the log between them stands.
    expect([3, 5, 7].map((index) => received.raw[index] === sent[index])).toEqual([false, true, false])
    expect(received.raw.slice(-12)).toEqual(sent.slice(-12))
    // The six stay even where more would have to go.
    const large = await send(await at.toShare(0.61, [...opening, ...work(55_000, 6_000, toolOf)]))
    const results = large.messages.filter(({ role }) => role === 'tool')
    const gone = results.map(({ text }) => text.startsWith('[cleared: '))
    expect(gone).toEqual([true, false, true, true, ...times(6, () => false)])
  })

  // Each of 45 folds in such a run, at 0.6 and with a summary that was paid for, was one that clearing would have made needless.
  test('in a run of sixty requests nothing is folded and no summary is asked for, since clearing is enough', async () => {
    const rounds = work(190_000, 3_000)
    const before = at.summaryCalls()
    const passes = new Set<string>()
    for (let count = 2; count <= rounds.length; count += 2) {
      const received = await send([...opening, ...rounds.slice(0, count)], -1)
      expect(standIns(received)).toEqual([])
      for (const pass of received.passes) passes.add(pass)
    }
    expect(rounds.length / 2).toBeGreaterThan(60 - 1)
    expect(passes).toEqual(new Set(['clear']))
    expect(at.summaryCalls() - before).toBe(0)
  })

  test('where there is nothing to clear, older messages are folded above 0.85, the newest stay word for word', async () => {
    const grown = [...opening, ...talk(84_000, 1_200)]
    await at.expectUntouched(await at.toShare(0.84, grown))
    const conversation = await at.toShare(0.86, grown)
    const received = await send(conversation)
    expect([received.passes, standIns(received).length]).toEqual([['fold'], 1])
    expect(received.raw.slice(0, 2)).toEqual(rawOf(opening))
    expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
  })
})

describe('keep-ten-with-summaries', () => {
  const at = standFor('keep-ten-with-summaries', 200_000)
  const { send, opening } = at

  test('above three quarters of what is not fixed all but the task and the newest ten is represented', async () => {
    const grown = [...opening, ...talk(110_000, 1_200)]
    await at.expectUntouched(await at.toShare(0.74, grown))
    // Ten that are just small enough, the last of them so large that no eleventh has room.
    await at.expectFolded(await at.toShare(0.76, [...opening, ...talk(95_000, 2_500)]), 10)
    // Where there is room more of them stay.
    const conversation = await at.toShare(0.76, grown)
    const { raw, sentTokens } = await send(conversation)
    expect(raw.slice(-12)).toEqual(rawOf(conversation.slice(-12)))
    expect(sentTokens).toBeLessThan(200_000 * 0.3)
  })

  test('old tool results are folded with their messages, neither shortened nor cleared before', async () => {
    const conversation = await at.toShare(0.76, [...opening, ...work(110_000, 2_400)])
    const received = await send(conversation)
    expect(received.passes).toEqual(['fold'])
    expect(received.raw.slice(-10)).toEqual(rawOf(conversation.slice(-10)))
  })
})

describe('thirty-recent-with-running-summary', () => {
  const at = standFor('thirty-recent-with-running-summary', 128_000)
  const { send, opening } = at
  const grown = [...opening, ...talk(80_000, 800)]

  test('above 0.8 all but the task and the thirty newest is represented, tool results with their messages', async () => {
    await at.expectUntouched(await at.toShare(0.79, grown))
    // Thirty that are just small enough, the last of them so large that there is no room for more.
    await at.expectFolded(await at.toShare(0.81, [...opening, ...talk(50_000, 950)]), 30)
    expect((await send(await at.toShare(0.81, [...opening, ...work(80_000, 2_400)]))).passes).toEqual([
      'fold',
    ])
  })

  test('what follows is folded into the one that stands there', async () => {
    const conversation = await at.toShare(0.81, grown)
    const first = await send(conversation, 0)
    const longer = [...conversation, ...talk(60_000, 800)]
    const second = await send(longer, 0)
    expect(standIns(second)).toHaveLength(1)
    expect(standIns(second)).not.toEqual(standIns(first))
    expect(second.raw.slice(-30)).toEqual(rawOf(longer.slice(-30)))
  })
})

describe('twenty-turns-of-fifty-thousand', () => {
  const at = standFor('twenty-turns-of-fifty-thousand', 128_000)
  const { send, opening } = at

  test('a tool result above 20,000 characters is cut in the first request that carries it, by its characters alone', async () => {
    const lines = times(5_000, (index) => `line ${index}`).join('\n')
    for (const result of [lines, ofLength(25_000)]) {
      const { messages } = await send([...opening, ...round('call_1', result)])
      const shown = messages.at(-1)?.text ?? ''
      expect(shown.length).toBeLessThanOrEqual(20_000)
      expect(shown.length).toBeGreaterThan(19_000)
      if (result !== lines) expect(shown).toMatch(/^first words.*of this result was left out.*last words$/s)
    }
    await at.expectUntouched([...opening, ...round('call_1', ofLength(19_500))])
  })

  test('the budget of 50,000 tokens passed, at most half of it is sent, without the first user message', async () => {
    const grown = [...opening, ...talk(36_000, 1_000)]
    const { incomingTokens } = await at.expectUntouched(await grownTo(49_000, grown, 4))
    expect(incomingTokens).toBeGreaterThan(48_500)
    expect(incomingTokens).toBeLessThan(50_000)
    const conversation = await grownTo(51_000, grown, 4)
    const received = await send(conversation)
    expect(received.incomingTokens).toBeGreaterThan(50_000)
    expect(received.sentTokens).toBeLessThanOrEqual(25_000)
    expect(received.raw.slice(-5)).toEqual(rawOf(conversation.slice(-5)))
    expect(received.raw).not.toContain(JSON.stringify(opening[1]))
    expect(standIns(received)).not.toEqual([])
  })

  test('with more than twenty turns the older half of them goes, whole, and is represented', async () => {
    /** Turns of four messages each: request, call, result, reply. */
    const turns = times(21, (number) => [
      user(`Request ${number}`),
      ...round(`call_${number}`, `result ${number}`),
      assistant(`Reply ${number}`),
    ])
    const system = opening.slice(0, 1)
    await at.expectUntouched([...system, ...turns.slice(0, 20).flat()])
    const received = await send([...system, ...turns.flat()])
    expect(standIns(received).map(({ raw }) => raw)).toEqual([received.raw[1]])
    expect(received.raw.toSpliced(1, 1)).toEqual(rawOf([...system, ...turns.slice(10).flat()]))
  })
})
