import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { clientName, treesOf } from '../../../src/admin/page/conversation-table.ts'
import { argumentWords, callWords, shownControls } from '../../../src/admin/page/message-line.ts'
import {
  compactionWords,
  hasFailed,
  requestLine,
  requestWords,
  treatedInDetails,
} from '../../../src/admin/told-words.ts'
import { messageRuns, sizedRequest } from '../../../src/admin/page/message-list.ts'
import { agentMessages, before, cardWith, messageWith, rowWith } from './made-up.ts'
import type { ShownMessage } from '../../../src/telemetry/conversations/shown-messages.ts'

const told = (action: string, reason: string | null = null, status: number | null = 200) =>
  requestWords({ action, reason, status })

/** The ids of each tree, its root first. */
const treeIds = (cards: Parameters<typeof treesOf>[0]): readonly (readonly string[])[] =>
  treesOf(cards).map(({ root, branches }) => [root.id, ...branches.map(({ id }) => id)])

test.each([
  ['claude-cli/2.1.332 (external, cli)', 'Claude Code 2.1.332'],
  ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)', 'Codex 0.169'],
  ['codex_cli_rs/0.169.1', 'Codex 0.169.1'],
  ['OpenAI/Python 2.8.0', 'OpenAI Python 2.8'],
  ['AsyncOpenAI/Python 1.109.1', 'OpenAI Python 1.109.1'],
  ['OpenAI/JS 7.55.0', 'OpenAI JavaScript 7.55'],
  ['ai-sdk/openai/3.0.1 runtime/node.js/24', 'AI SDK 3.0.1'],
  ['opencode/1.4.2 ai-sdk/provider-utils/4.0.1', 'opencode 1.4.2'],
  ['my-agent/3 (beta)', 'my-agent 3'],
  ['node', 'node'],
  ['/', '/'],
  ['', null],
  [null, null],
])('a client that calls itself %j is %j', (userAgent, words) => {
  expect(clientName(userAgent)).toBe(words)
})

describe('how a request went', () => {
  test('says of one that was not read what to change', () => {
    const { words, advice } = requestWords({
      action: 'relayed',
      reason: 'stateful',
      status: 200,
      dialect: 'responses',
    })
    expect(words).toBe('sent unread: its history lies at the server')
    expect(advice).toContain('store: false')
    expect(advice).not.toContain('thread')
    expect(requestWords({ action: 'relayed', reason: 'path', status: null, path: '/api/chat' })).toEqual({
      words: 'sent unread: /api/chat is not compacted',
      trouble: null,
      advice: 'have the client use /chat/completions, /responses, /messages or /api/chat',
      level: 'calm',
    })
  })

  test('is calm where the client got its answer, and failed where it did not', () => {
    for (const action of ['relayed', 'compacted', 'recovered', 'bypassed', 'left'])
      expect([action, told(action).level]).toEqual([action, 'calm'])
    expect(told('restored', 'original').level).toBe('stepped-back')
    // All of it was red, also what had gone well.
    const trouble = 'the upstream answered 429'
    expect(told('compacted', null, 429)).toMatchObject({ words: 'compacted', trouble, level: 'calm' })
    expect(hasFailed({ action: 'compacted', reason: null, status: 429 })).toBe(true)
    expect(hasFailed({ action: 'compacted', reason: null, status: 200 })).toBe(false)
    expect(told('refused', 'queue_full', 503)).toMatchObject({
      words: 'refused: queue_full',
      level: 'failed',
    })
    // Foldgate has refused nothing: its upstream was not there.
    for (const [code, words] of Object.entries({
      upstream_unreachable: 'the upstream could not be reached',
      upstream_timeout: 'the upstream did not answer in time',
      upstream_broken: 'the upstream broke off',
    }))
      expect(told('refused', code, 502)).toMatchObject({ words, trouble: null, level: 'failed' })
    expect(told('failed-open', 'reading').level).toBe('failed')
    const broken = requestLine({ action: 'relayed', reason: null, status: 200, outcome: 'broken-off' })
    expect(broken).toBe('sent as it came; the answer broke off')
  })

  test('has words of its own for every action and reason that the documents name', async () => {
    const pages = await Promise.all(
      ['headers', 'troubleshooting'].map((name) =>
        readFile(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8'),
      ),
    )
    const named = new Set(
      pages.join('').match(/\b(?:relayed|compacted|recovered|restored|failed-open);reason=[\w-]+/g),
    )
    expect(named.size).toBeGreaterThan(15)
    const wordless = [...named].filter((each) => {
      const [action = '', reason = ''] = each.split(';reason=')
      return told(action, reason).words.endsWith(`: ${reason}`)
    })
    expect(wordless).toEqual([])
  })

  test('that another version wrote is told by its own words', () => {
    expect(told('folded', 'by-hand').words).toBe('folded: by-hand')
    expect(told('relayed', 'by-hand').words).toBe('sent as it came: by-hand')
    expect(told('toString').words).toBe('toString')
  })
})

describe('branches', () => {
  test('stand under their root, also those of branches, and the list goes by whoever was used last', () => {
    const cards = [
      cardWith({ id: 'other', last_seen: before(20) }),
      cardWith({ id: 'root', last_seen: before(90) }),
      cardWith({ id: 'old', parent: 'root', last_seen: before(40) }),
      cardWith({ id: 'new', parent: 'old', last_seen: before(5) }),
    ]
    expect(treeIds(cards)).toEqual([['root', 'new', 'old'], ['other']])
  })

  test('stand alone where their root is no longer kept, and in a circle nobody is lost', () => {
    const circle = [cardWith({ id: 'a', parent: 'b' }), cardWith({ id: 'b', parent: 'a' })]
    expect(treeIds([cardWith({ id: 'c', parent: 'gone' })])).toEqual([['c']])
    expect(treeIds(circle).flat().toSorted()).toEqual(['a', 'b'])
  })
})

test.each([
  ['read_file', { path: 'src/app.ts', limit: 40 }, 'read_file src/app.ts'],
  ['bash', { command: 'npm\n  test', description: 'Runs the tests' }, 'bash: npm test'],
  ['shell', { command: ['bash', '-lc', 'npm test'] }, 'shell: npm test'],
  ['Edit', { old_string: 'a', new_string: 'b', file_path: '/srv/a.ts' }, 'Edit /srv/a.ts'],
  ['apply_patch', '*** Begin Patch\n*** Update File: src/a.ts\n+x', 'apply_patch src/a.ts'],
  ['apply_patch', { input: '*** Begin Patch\n*** Add File: src/b.ts\n+x' }, 'apply_patch: src/b.ts'],
  ['search', { limit: 3, needle: 'retry' }, 'search: retry'],
  ['paint', { width: 3 }, 'paint: {"width":3}'],
  ['now', {}, 'now'],
  ['', 'not JSON', 'a tool: not JSON'],
] as const)('a call of %j with %j is %j', (name, given, line) => {
  const argumentsText = typeof given === 'string' ? given : JSON.stringify(given)
  expect(callWords({ name, argumentsText })).toBe(line)
})

test('a line of a call is one, however long its arguments are, and what a terminal would act on is seen', () => {
  const words = callWords({
    name: 'bash',
    argumentsText: JSON.stringify({ command: '\u001b[31mecho '.repeat(900) }),
  })
  expect(words.length).toBeLessThan(160)
  expect(words).not.toContain('\u001b')
  expect(argumentWords('{"path":"a.ts","lines":["x"]}')).toBe('path: a.ts\nlines: ["x"]')
  expect(shownControls('a\u001b[31m\tb\r\n\u007f')).toBe('a^[[31m\tb\n^?')
})

test('what a compaction did is said in words', () => {
  const treated = { cleared: 18, folded: 31, recap_tokens: 1_900, newest_kept: 14 }
  expect(compactionWords(treated, 'message')).toBe(
    '18 old results cleared, 31 messages folded into a recap of 1,900 tokens; the newest 14 stand as they were',
  )
  expect(compactionWords({ folded: 1, summary_tokens: 90, newest_kept: 1 }, 'item')).toBe(
    '1 item folded into a summary of 90 tokens; the newest one stands as it was',
  )
  expect(compactionWords({ newest_kept: 9 }, 'message')).toBeNull()
  expect(treatedInDetails({ cleared: 2, folded: 'x', toString: 3 })).toEqual({ cleared: 2 })
})

describe('the sizes of a request', () => {
  const around = { tools: { tokens: null, bytes: 300 }, system: { tokens: null, bytes: 100 } }
  const uncounted = messageWith({ receivedTokens: null, sentTokens: null, bytes: 600 })

  test('that Foldgate had no need to count are the provider’s count, shared out by bytes', () => {
    expect(sizedRequest([uncounted], { around, rows: [rowWith({ prompt_tokens: 12_000 })] })).toMatchObject({
      isEstimate: true,
      toolsTokens: 3_600,
      systemTokens: 1_200,
      messages: [{ receivedTokens: 7_200, sentTokens: 7_200 }],
    })
  })

  test('that nobody counted are not known, and those that were counted stay', () => {
    const rows = [rowWith({ prompt_tokens: null })]
    expect(sizedRequest([uncounted], { around, rows })).toMatchObject({
      isEstimate: false,
      toolsTokens: null,
    })
    const counted = messageWith({ receivedTokens: 5 })
    const other = { around, rows: [rowWith({ prompt_tokens: 12_000 })] }
    expect(sizedRequest([counted], other).messages).toEqual([counted])
  })
})

const folded = (index: number): ShownMessage => messageWith({ index, treatment: 'folded', sentTokens: 0 })

const summaryOf = (start: number, end: number): ShownMessage =>
  messageWith({ index: null, treatment: 'summary', receivedTokens: 0, standsFor: { start, end } })

/** A run in short: what it is and which messages it holds. */
const inShort = (messages: readonly ShownMessage[]) =>
  messageRuns(messages).map(({ standIn, messages: [first, ...others] }) => {
    const indexes = [first, ...others].flatMap((message) => message?.index ?? [])
    if (standIn !== null) return ['folded', ...indexes]
    return others.length === 0 ? first?.index : ['kept', ...indexes]
  })

const question = messageWith({ index: 3, pinned: 'latest-user' })
const task = messageWith({ index: 2, pinned: 'task' })
const keptOnes = Array.from({ length: 9 }, (_, index) =>
  messageWith({ index, pinned: index === 0 ? 'system' : index === 5 ? 'latest-user' : null }),
)
const firstOf = [summaryOf(1, 3), folded(1), folded(2)]
const secondOf = [summaryOf(4, 6), folded(4), folded(5)]
const three = [folded(1), folded(2), folded(3)]

test.each<[string, readonly ShownMessage[], readonly unknown[]]>([
  ['what was folded stands beside what stands for it', [summaryOf(1, 4), ...three], [['folded', 1, 2, 3]]],
  ['wherever the two are listed', [...three, summaryOf(1, 4)], [['folded', 1, 2, 3]]],
  ['two summaries', [...firstOf, question, ...secondOf], [['folded', 1, 2], 3, ['folded', 4, 5]]],
  ['a pinned one by itself', [summaryOf(1, 4), folded(1), task, folded(3)], [['folded', 1, 3], 2]],
  ['a folded one that nothing stands for', [folded(7)], [7]],
  ['a summary of earlier ones', [summaryOf(1, 4), messageWith({ index: 4 })], [['folded'], 4]],
  ['long stretches of kept ones', keptOnes, [0, ['kept', 1, 2, 3, 4], 5, 6, 7, 8]],
])('runs of messages: %s', (_, messages, runs) => {
  expect(inShort(messages)).toEqual(runs)
})

test('every message is in exactly one place', () => {
  const messages = agentMessages()
  const shown = messageRuns(messages).flatMap((run) => [run.standIn ?? [], run.messages].flat())
  expect(shown).toHaveLength(messages.length)
  expect(new Set(shown)).toEqual(new Set(messages))
})
