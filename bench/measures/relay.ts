import { setTimeout as pause } from 'node:timers/promises'
import type { Check, Measure, MeasureOptions, Section, Table } from '../section.ts'
import { direct } from '../subjects/direct.ts'
import { startFoldgate } from '../subjects/foldgate.ts'
import { startMinimalRelay } from '../subjects/minimal-relay.ts'
import { startNginx } from '../subjects/nginx.ts'
import { startPortkey } from '../subjects/portkey.ts'
import type { Subject } from '../subjects/subject.ts'
import { inTurn, withSubjects } from '../subjects/with-subjects.ts'
import { cellOf } from './cell.ts'
import { checkOf } from './check-of.ts'
import { addedRatiosOf, figuresOf, ratiosOf, Round, type Figure } from './relay/rounds.ts'
import { takeSample } from './relay/sample.ts'
import { phases, scenarios, SMALL, type Scenario } from './relay/scenarios.ts'
import { warmingMs } from './warming.ts'

const IN_MEMORY = 'Foldgate, memory:'
const UNREAD_ONLY = 'Foldgate, no chats'
const BUFFERED = 'buffered relay'

/** What relaying costs: requests that are small or large, few or many at a time, unread or inspected. */
export const relay: Measure = {
  name: 'relay',
  run: (options) =>
    withSubjects(startsOf(options.upstreamOrigin), async (subjects) => {
      const rounds = await measure(options, subjects)
      return sectionOf(
        rounds,
        subjects.map(({ name }) => name),
      )
    }),
}

// --- internal ---

function startsOf(upstreamOrigin: string): (() => Promise<Subject | null>)[] {
  return [
    () => Promise.resolve(direct(upstreamOrigin)),
    () => startMinimalRelay(upstreamOrigin),
    () => startMinimalRelay(upstreamOrigin, true),
    () => startNginx(upstreamOrigin),
    () => startPortkey(upstreamOrigin),
    () => startFoldgate({ upstreamOrigin }),
    async () => ({ ...(await startFoldgate({ upstreamOrigin, store: 'memory:' })), name: IN_MEMORY }),
    async () => ({ ...(await startFoldgate({ upstreamOrigin })), name: UNREAD_ONLY }),
  ]
}

/** A store does not matter to what is not read; what inspecting leaves behind may. */
function takesPart({ name }: Pick<Subject, 'name'>, { kind, size }: Scenario): boolean {
  if (name === BUFFERED) return kind !== 'unread' && size === SMALL
  // The other formats are there to be compared with chats.
  if (kind === 'response' || kind === 'message')
    return name === 'direct' || name === 'minimal relay' || name === 'Foldgate'
  return name !== (kind === 'chat' ? UNREAD_ONLY : IN_MEMORY)
}

async function measure(options: MeasureOptions, subjects: readonly Subject[]): Promise<Round[]> {
  const { effort, tell } = options
  const rounds: Round[] = []
  tell('warming up')
  for (const scenario of kinds.flatMap((kind) => small(kind, 32))) {
    for (const subject of subjects.filter((each) => takesPart(each, scenario)))
      await takeSample(subject, scenario, warmingMs(effort) / 2)
  }
  for (const phase of phases) {
    const count = effort.rounds * phase.roundsFactor
    const durationMs = effort.durationMs * phase.durationFactor
    for (let index = 0; index < count; index += 1) {
      tell(`${phase.name}, round ${index + 1} of ${count}`)
      rounds.push(await takeRound(phase.scenarios, subjects, durationMs, index))
    }
  }
  return rounds
}

async function takeRound(
  loads: readonly Scenario[],
  subjects: readonly Subject[],
  durationMs: number,
  index: number,
): Promise<Round> {
  const round = new Round()
  for (const scenario of loads) {
    const partners = subjects.filter((subject) => takesPart(subject, scenario))
    for (const subject of inTurn(partners, index)) {
      round.add(scenario, subject.name, await takeSample(subject, scenario, durationMs))
      if (leavesMuch(scenario)) await pause(LEFT_BEHIND_MS)
    }
  }
  return round
}

/**
 * What a subject does once such a load is over must not fall into the next one's time, and keep the core from it.
 */
const LEFT_BEHIND_MS = 3_000

function leavesMuch({ body, connections }: Scenario): boolean {
  return body.length * connections > 100_000_000
}

function sectionOf(rounds: readonly Round[], names: readonly string[]): Section {
  return {
    name: 'relay',
    title: 'Relaying',
    about:
      'Each connection asks again as soon as it was answered; the upstream answers at once. No request is like another: every text in it has a number of its own, so each chat is a new conversation. "Unread" is `/v1/embeddings`, which Foldgate passes on as it comes; "chat" is `/v1/chat/completions`", which it inspects, with default settings; "response" and "message" are the same chat by `/v1/responses` and `/v1/messages`; the buffered relay has the request\'s body whole before it sends it, as whoever looks into it has to; "no chats" is a Foldgate that inspects none, while the other one has inspected tens of thousands before. Each subject was asked for eight seconds before, for four where it takes part in one kind only; the small bodies get all of their rounds first, three times as many of half the length, then the large, then the huge ones, and small ones again after them. The chat of 4 MB is a picture, since so much text would fit no window. 256 bodies of 4 MB are left out: a gigabyte in flight is twice what Foldgate takes by default. CPU is that of the subject\'s process; ratios are to the minimal relay in the same round; in parentheses the least and the most of the rounds.',
    tables: tablesOf(rounds, names),
    checks: checksOf(rounds),
  }
}

function tablesOf(rounds: readonly Round[], names: readonly string[]): Table[] {
  const groups = Map.groupBy(scenarios, ({ kind, size }) => `${captions[kind]}, ${size}`)
  return [...groups].map(([caption, group]) => ({
    caption,
    columns: [
      'subject',
      'connections',
      'requests/s',
      '× minimal relay',
      'median ms',
      '99th percentile ms',
      'CPU µs/request',
      '× minimal relay',
    ],
    rows: group.flatMap((scenario) =>
      names.filter((name) => takesPart({ name }, scenario)).map((name) => rowOf(rounds, scenario, name)),
    ),
  }))
}

const captions: Readonly<Record<Scenario['kind'], string>> = {
  unread: 'Unread',
  chat: 'Chat',
  response: 'Response',
  message: 'Message',
}

const throughput: Figure = ({ requestsPerSecond }) => requestsPerSecond
const cpu: Figure = ({ cpuMicroseconds }) => cpuMicroseconds

function rowOf(rounds: readonly Round[], scenario: Scenario, name: string): string[] {
  const cell = (figure: Figure): string => cellOf(figuresOf(rounds, scenario, name, figure))
  const ratio = (figure: Figure): string =>
    cellOf(ratiosOf(rounds, scenario, { of: name, to: 'minimal relay' }, figure))
  return [
    name,
    String(scenario.connections),
    cell(throughput),
    ratio(throughput),
    cell(({ medianMs }) => medianMs),
    cell(({ slowMs }) => slowMs),
    cell(cpu),
    ratio(cpu),
  ]
}

/** The loads of the checks. */
function small(kind: Scenario['kind'], connections: number): Scenario[] {
  return scenarios.filter(
    (scenario) => scenario.kind === kind && scenario.size === SMALL && scenario.connections === connections,
  )
}

const kinds = ['unread', 'chat', 'response', 'message'] as const

function checksOf(rounds: readonly Round[]): Check[] {
  const toMinimal = { of: 'Foldgate', to: 'minimal relay' }
  const ratios = (kind: Scenario['kind'], subjects: { of: string; to: string }, figure: Figure): number[] =>
    small(kind, 32).flatMap((scenario) => ratiosOf(rounds, scenario, subjects, figure))
  const toPortkey = { of: 'Foldgate', to: 'Portkey' }
  return [
    checkOf(
      'relay-throughput',
      'requests/s over those of the minimal relay (unread, 2 kB, 32 connections)',
      { kind: 'at least', value: 0.95 },
      ratios('unread', toMinimal, throughput),
    ),
    checkOf(
      'relay-portkey',
      'requests/s over those of Portkey (unread, 2 kB, 32 connections)',
      { kind: 'at least', value: 7 },
      ratios('unread', toPortkey, throughput),
    ),
    checkOf(
      'chat-portkey',
      'requests/s over those of Portkey (chat, 2 kB, 32 connections)',
      { kind: 'at least', value: 4.75 },
      ratios('chat', toPortkey, throughput),
    ),
    checkOf(
      'chat-throughput',
      'requests/s over those of the minimal relay (chat, 2 kB, 32 connections)',
      { kind: 'at least', value: 0.6 },
      ratios('chat', toMinimal, throughput),
    ),
    checkOf(
      'relay-latency',
      'added median latency over that of the minimal relay (unread, 2 kB, 1 connection)',
      { kind: 'at most', value: 1.1 },
      small('unread', 1).flatMap((scenario) => addedRatiosOf(rounds, scenario, toMinimal)),
    ),
    checkOf(
      'relay-cpu',
      'CPU per request over that of the minimal relay (unread, 2 kB, 32 connections)',
      { kind: 'at most', value: 1.3 },
      ratios('unread', toMinimal, cpu),
    ),
    checkOf(
      'chat-cpu',
      'CPU per request over that of a minimal relay that buffers (chat, 2 kB, 32 connections)',
      { kind: 'at most', value: 2.5 },
      ratios('chat', { of: 'Foldgate', to: BUFFERED }, cpu),
    ),
    ...(['response', 'message'] as const).map((kind) =>
      checkOf(
        `${kind}-cpu`,
        `CPU per request over that of a chat (${kind}, 2 kB, 32 connections)`,
        { kind: 'at most', value: 1.1 },
        overChat(rounds, kind),
      ),
    ),
  ]
}

/** What a request in another format takes over a chat of the same round. */
function overChat(rounds: readonly Round[], kind: 'response' | 'message'): number[] {
  const [chat] = small('chat', 32)
  const [other] = small(kind, 32)
  if (chat === undefined || other === undefined) return []
  return rounds.flatMap((round) => {
    const [before] = figuresOf([round], chat, 'Foldgate', cpu)
    const [own] = figuresOf([round], other, 'Foldgate', cpu)
    return before === undefined || own === undefined ? [] : [own / before]
  })
}
