import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { adminPlace, askAdmin, deleteConversation } from '../admin/ask-admin.ts'
import { readArchive } from '../archive/read-archive.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { growing, longRun, type TestMessage } from '../support/conversations.ts'
import { completion, overflow, type Script } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { chatOf, postChat, rawMessages, type ChatReply } from '../support/post-chat.ts'
import { summaryStand, type SummaryStandOptions } from './summaries/summary-stand.ts'
import { summariesIn } from './summaries/growing-agent.ts'

// A target of its own is gone down to, also where clearing would be enough: more is lost then, and kept.
const profile = { window: { tokens: 6_000, output_reserve: 512 }, target: 0.5 }
const unrendered = { ...profile, render: { enabled: false } }
const run = longRun(24, 11, 0.5)
const otherRun = longRun(24, 12, 0.5)

/** A folder for an archive, which is not there yet, and the settings that name it. */
async function archivePlace(mention = false) {
  const dir = join(await temporaryFolder({}), 'kept')
  return { dir, settings: { archive: { dir, mention } } }
}

/** The settings of an archive that cannot be written, whoever asks: a file stands in the way. */
async function blockedPlace(mention = false) {
  const folder = await temporaryFolder({ file: '' })
  return { settings: { archive: { dir: join(folder, 'file/kept'), mention } } }
}

/** The file of a conversation. */
const fileOf = (dir: string, id: string) => readFile(join(dir, `${id}.md`), 'utf8')

const numbersIn = (file: string) => readArchive(file).flatMap(({ number }) => number ?? [])

const conversationOf = (reply: Pick<ChatReply, 'header'>): string =>
  reply.header('x-foldgate-conversation') ?? ''

/** What a file holds of messages: their texts by their place in a conversation with one system message. */
const textsIn = (file: string): ReadonlyMap<number, string> =>
  new Map(
    readArchive(file).flatMap(({ number, fences }) => (number === null ? [] : [[number, fences[0] ?? '']])),
  )

/** What a message says, or else what it calls. */
function saidBy(message: TestMessage | undefined): string {
  const calls = JSON.stringify(message?.['tool_calls'] ?? '')
  return typeof message?.['content'] === 'string' ? message['content'] : calls
}

/** The client's messages that did not arrive as they came. */
function missingIn(messages: readonly TestMessage[], received: readonly string[]): readonly number[] {
  const there = new Set(received)
  return messages.flatMap((message, index) => (there.has(JSON.stringify(message)) ? [] : [index]))
}

/** Of these messages those that a file does not hold word for word. Rendered results lost nothing. */
function unkept(
  messages: readonly TestMessage[],
  indexes: readonly number[],
  file: string,
): readonly number[] {
  const texts = textsIn(file)
  return indexes.filter((index) => {
    const text = texts.get(index)
    const message = messages[index]
    return message?.role === 'assistant' && message['content'] === null
      ? text === undefined || !saidBy(message).includes(JSON.stringify(text))
      : text !== saidBy(message)
  })
}

describe('with archive.dir', () => {
  test('what a view lost stands in the file before the upstream receives the view, each message once', async () => {
    const { dir, settings } = await archivePlace()
    let seen: TestMessage[] = []
    let losses = 0
    const upstream: Script = async (request) => {
      const missing = missingIn(seen, rawMessages(request))
      const [name] = existsSync(dir) ? await readdir(dir) : []
      const file = name === undefined ? '' : readFileSync(join(dir, name), 'utf8')
      // Nothing waits here: what is not written now was sent without it.
      expect(unkept(seen, missing, file)).toEqual([])
      losses = Math.max(losses, missing.length)
      return completion('fine')
    }
    await using stand = await standWith(upstream, { profile: unrendered, settings })
    let conversation = ''
    for (const messages of growing(run)) {
      seen = messages
      const reply = await postChat(stand.url, chatOf(messages))
      expect(reply.status).toBe(200)
      conversation = conversationOf(reply)
    }
    expect(losses).toBeGreaterThan(15)
    expect(await readdir(dir)).toEqual([`${conversation}.md`])
    const file = await fileOf(dir, conversation)
    expect(file).toMatch(new RegExp(`^# Conversation ${conversation}\\n`))
    const numbers = numbersIn(file)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(stand.foldgate.log.join('')).not.toContain('failed')
  })

  test('a long conversation that is seen for the first time is kept at once, and once, however often it comes', async () => {
    const { dir, settings } = await archivePlace()
    await using stand = await standWith(completion('fine'), { profile, settings })
    const [reply = expect.fail()] = await Promise.all([1, 2, 3].map(() => postChat(stand.url, chatOf(run))))
    expect(reply.action).toBe('compacted')
    const file = await fileOf(dir, conversationOf(reply))
    expect(readArchive(file).filter(({ number }) => number === null)).toHaveLength(2)
    expect(textsIn(file).size).toBeGreaterThan(20)
    const numbers = numbersIn(file)
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  test('a view that is made smaller after a refusal is kept before it is sent again', async () => {
    const { dir, settings } = await archivePlace()
    const messages = longRun(14, 2, 0.6)
    let file = ''
    const again: Script = async () => {
      const [name = ''] = await readdir(dir)
      file = readFileSync(join(dir, name), 'utf8')
      return completion('fine')
    }
    await using stand = await standWith([overflow(4096), again], {
      settings,
      profile: { render: { enabled: false } },
    })
    const reply = await postChat(stand.url, chatOf(messages))
    expect(reply.action).toBe('recovered')
    const missing = missingIn(messages, rawMessages(stand.upstream.requests.at(-1)))
    expect(missing.length).toBeGreaterThan(3)
    expect(unkept(messages, missing, file)).toEqual([])
    expect(file).toContain(', overflow: #')
  })

  // Runs of one task that are sent side by side have one id. Each compaction of one wrote all of its messages anew: the file
  // said in its last line what it held of the other.
  test('runs that share a file have each message in it once', async () => {
    const { dir, settings } = await archivePlace()
    let waiting: (() => void)[] = []
    // No run is answered before all of them were prepared: none is taken for another's branch.
    const together: Script = async () => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length < runs.length) return
        for (const go of waiting) go()
        waiting = []
      })
      return completion('fine')
    }
    await using stand = await standWith(together, { profile, settings })
    const runs = [run, ...[12, 13].map((seed) => [...run.slice(0, 2), ...longRun(24, seed, 0.5).slice(2)])]
    const growths = runs.map((messages) => [...growing(messages)])
    const ids = new Set<string>()
    for (let count = 0; count < 24; count += 1) {
      const replies = await Promise.all(
        growths.map((requests) => postChat(stand.url, chatOf(requests[count] ?? expect.fail()))),
      )
      for (const reply of replies) ids.add(conversationOf(reply))
    }
    expect(ids.size).toBe(1)
    const file = await fileOf(dir, [...ids].join(''))
    const sections = readArchive(file).filter(({ number }) => number !== null)
    // More than any one of them has.
    expect(sections.length).toBeGreaterThan(run.length * 1.25)
    const copies = new Map<number | null, number>()
    for (const { number } of sections) copies.set(number, (copies.get(number) ?? 0) + 1)
    expect(Math.max(...copies.values())).toBeLessThanOrEqual(runs.length)
  })

  test('conversations and credentials have files of their own', async () => {
    const { dir, settings } = await archivePlace()
    await using stand = await standWith(completion('fine'), { profile, settings })
    const mine = await postChat(stand.url, chatOf(run))
    const theirs = await postChat(stand.url, chatOf(run), { authorization: 'Bearer another-key' })
    const second = await postChat(stand.url, chatOf(otherRun))
    const ids = [mine, theirs, second].map(conversationOf)
    expect(new Set(ids).size).toBe(3)
    expect(await readdir(dir)).toEqual(ids.map((id) => `${id}.md`).sort())
    const files = await Promise.all(ids.map((id) => fileOf(dir, id)))
    const [held, same, foreign] = files.map(textsIn)
    expect(same).toEqual(held)
    expect(foreign).not.toEqual(held)
  })

  test('what passes through, is only observed, or is explained, is not written', async () => {
    const { dir, settings } = await archivePlace()
    const place = await adminPlace()
    await using stand = await standWith(completion('fine'), {
      profile: { ...profile, observe: true },
      settings,
      flags: place.flags,
    })
    const observed = await postChat(stand.url, chatOf(run))
    expect(observed.header('x-foldgate-observed')).not.toBeNull()
    expect(await postChat(stand.url, chatOf(run), { 'x-foldgate-bypass': '1' })).toMatchObject({
      status: 200,
    })
    const body = JSON.stringify(chatOf(run))
    const explained = await askAdmin(place.origin, '/explain', { method: 'POST', body })
    expect(explained.status).toBe(200)
    expect(existsSync(dir)).toBe(false)
  })
})

/** Requests of an agent whose conversation is summarised ahead of need, and what its upstream received. */
async function summarised(options: SummaryStandOptions) {
  const upstreamFiles: string[] = []
  await using stand = await summaryStand({
    ...options,
    script: async (request) => {
      const [, path] = /file (\/\S+?\.md)/.exec(request.body.toString()) ?? []
      if (path !== undefined) upstreamFiles.push(readFileSync(path, 'utf8'))
      return completion('Understood.')
    },
  })
  const turns = await stand.agent({ roundTokens: 1000 }).turns(12, { pause: stand.model.quiet })
  return { turns, upstreamFiles, log: stand.foldgate.log }
}

/** The same without an archive. */
const unarchived = summarised({})

const received = ({ turns }: Awaited<ReturnType<typeof summarised>>) => turns.map((turn) => turn.received)

describe('with summaries', () => {
  test('a summary names the file where archive.mention is on, and what it stands for is in it', async () => {
    const { dir, settings } = await archivePlace(true)
    const { turns, upstreamFiles } = await summarised({ settings })
    const [last = ''] = summariesIn(turns.at(-1) ?? { received: [] })
    const conversation = turns.at(-1)?.header('x-foldgate-conversation') ?? ''
    const lines = last.split('\n')
    expect(lines[2]).toBe(
      `What they said stands word for word in the file ${join(dir, `${conversation}.md`)}`,
    )
    expect(upstreamFiles.length).toBeGreaterThan(3)
    for (const file of upstreamFiles) expect(file).toMatch(/^## Summary of #2 to #\d+$/m)
    // The next summary is not made of the note, nor is it written as one's text.
    const written = readArchive(upstreamFiles.at(-1) ?? '').filter(({ heading }) =>
      heading.startsWith('Summary'),
    )
    expect(written.length).toBeGreaterThan(1)
    expect(written.flatMap(({ fences }) => fences).join('\n')).not.toContain(dir)
    expect(last).toContain(written.at(-1)?.fences[0])
  })

  test('it does not where it is off, and the upstream receives the same as without an archive', async () => {
    const { settings } = await archivePlace()
    expect(received(await summarised({ settings }))).toEqual(received(await unarchived))
  })

  test('where nothing can be written, the upstream receives the same as without an archive', async () => {
    const blocked = await summarised(await blockedPlace(true))
    expect(blocked.log.join('')).toContain('"part":"archive"')
    expect(received(blocked)).toEqual(received(await unarchived))
  })
})

describe('an archive that cannot be written', () => {
  test('changes no byte that the upstream receives, and each failure is counted', async () => {
    const place = await adminPlace()
    const { settings } = await blockedPlace()
    const requests = [...growing(run)].slice(-4)
    await using plain = await standWith(completion('fine'), { profile })
    await using blocked = await standWith(completion('fine'), { profile, settings, flags: place.flags })
    for (const { url } of [plain, blocked]) {
      for (const messages of requests) expect((await postChat(url, chatOf(messages))).status).toBe(200)
    }
    const bodies = (stand: typeof plain) => stand.upstream.requests.map(({ body }) => body.toString())
    expect(bodies(blocked)).toEqual(bodies(plain))
    expect(rawMessages(blocked.upstream.requests.at(-1)).length).toBeLessThan(run.length)
    const metrics = await askAdmin(place.origin, '/metrics')
    expect(metrics.text).toMatch(/^foldgate_failures_total\{part="archive"\} [1-9]/m)
    const told = blocked.foldgate.log.find((line) => line.includes('"part":"archive"'))
    expect(told).toContain('"reason":"ENOTDIR"')
    expect(told).not.toContain('kept')
    await expect
      .poll(async () => (await askAdmin(place.origin, '/events?type=failure')).text)
      .toMatch(/"reason":"archive".*"reason":"ENOTDIR"/)
  })
})

describe('DELETE /conversations/ID', () => {
  test('removes the file, also where nothing else is left of the conversation', async () => {
    const place = await adminPlace()
    const { dir, settings } = await archivePlace()
    await using stand = await standWith(completion('fine'), { profile, settings, flags: place.flags })
    const id = conversationOf(await postChat(stand.url, chatOf(run)))
    const other = conversationOf(await postChat(stand.url, chatOf(otherRun)))
    expect((await deleteConversation(place.origin, id)).status).toBe(204)
    expect(await readdir(dir)).toEqual([`${other}.md`])
    expect(stand.foldgate.log.filter((line) => line.includes('"archived_files":1'))).toHaveLength(1)
    expect((await deleteConversation(place.origin, id)).status).toBe(404)
  })
})
