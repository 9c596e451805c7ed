import { spreadOf } from '../figures.ts'
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
import {
  measureStreams,
  streamScenarios,
  type StreamFigures,
  type StreamScenario,
} from './streams/scenarios.ts'
import { askSilentUpstream } from './streams/silence.ts'
import { warmingMs } from './warming.ts'

const SILENCE_MS = 90_000
const SILENCE_QUICK_MS = 3_000
const WARMING: StreamScenario = { caption: 'warming', connections: 32, chunks: 3, gapMs: 1 }

/** What one round gave, by scenario and subject. */
type Round = ReadonlyMap<StreamScenario, ReadonlyMap<string, StreamFigures>>

/** How soon a streamed answer begins, how long each chunk takes, and whether a silent upstream is waited for. */
export const streams: Measure = {
  name: 'streams',
  run: (options) =>
    withSubjects(
      [
        () => Promise.resolve(direct(options.upstreamOrigin)),
        () => startMinimalRelay(options.upstreamOrigin),
        () => startMinimalRelay(options.upstreamOrigin, true),
        () => startNginx(options.upstreamOrigin),
        () => startPortkey(options.upstreamOrigin),
        () => startFoldgate({ upstreamOrigin: options.upstreamOrigin }),
      ],
      (subjects) => measure(options, subjects),
    ),
}

// --- internal ---

async function measure({ effort, tell }: MeasureOptions, subjects: readonly Subject[]): Promise<Section> {
  const scenarios = streamScenarios(effort.isQuick)
  const silenceMs = effort.isQuick ? SILENCE_QUICK_MS : SILENCE_MS
  tell(`an upstream that is silent for ${silenceMs / 1000} s`)
  const outcomes = await askSilentUpstream(subjects, silenceMs)
  tell('warming up')
  for (const subject of subjects) await measureStreams(subject, WARMING, warmingMs(effort))
  const rounds: Round[] = []
  for (let index = 0; index < effort.rounds; index += 1) {
    tell(`round ${index + 1} of ${effort.rounds}`)
    rounds.push(await takeRound(scenarios, subjects, effort.durationMs, index))
  }
  return {
    name: 'streams',
    title: 'Streams',
    about:
      'Streamed chats of 2 kB, inspected by Foldgate with default settings, each a new conversation. Each subject was asked for eight seconds before. Each connection begins another stream as soon as its last one is whole; they begin one after the other, spread over the length of a stream. The upstream writes into each chunk when it was written, so its delay is from there to its receipt. A chunk has waited for another where it arrived only after the upstream had written the next one. The bound is for one stream with 10 ms between its chunks; with 1 ms, or with 32 streams, some wait, as the tables say, and directly too. Why each did was not looked into.',
    tables: [
      ...tablesOf(
        scenarios,
        rounds,
        subjects.map(({ name }) => name),
      ),
      {
        caption: `An upstream that says nothing for ${silenceMs / 1000} s, not even headers, and then streams`,
        columns: ['subject', 'the answer arrived'],
        rows: outcomes,
      },
    ],
    checks: checksOf(scenarios, rounds),
  }
}

async function takeRound(
  scenarios: readonly StreamScenario[],
  subjects: readonly Subject[],
  durationMs: number,
  index: number,
): Promise<Round> {
  const round = new Map<StreamScenario, Map<string, StreamFigures>>()
  for (const scenario of scenarios) {
    const bySubject = new Map<string, StreamFigures>()
    for (const subject of inTurn(subjects, index))
      bySubject.set(subject.name, await measureStreams(subject, scenario, durationMs))
    round.set(scenario, bySubject)
  }
  return round
}

function tablesOf(
  scenarios: readonly StreamScenario[],
  rounds: readonly Round[],
  names: readonly string[],
): Table[] {
  return [...Map.groupBy(scenarios, ({ caption }) => caption)].map(([caption, group]) => ({
    caption,
    columns: [
      'subject',
      'streams',
      'headers ms',
      'first byte ms',
      '99th percentile ms',
      'chunk delay ms',
      '99th percentile ms',
      'chunks that waited',
    ],
    rows: group.flatMap((scenario) => names.map((name) => rowOf(rounds, scenario, name))),
  }))
}

function rowOf(rounds: readonly Round[], scenario: StreamScenario, name: string): string[] {
  const values = (figure: (figures: StreamFigures) => number): number[] =>
    valuesOf(rounds, scenario, name, figure)
  const sum = (figure: (figures: StreamFigures) => number): number =>
    values(figure).reduce((total, value) => total + value, 0)
  return [
    name,
    String(scenario.connections),
    cellOf(values(({ headMs }) => headMs)),
    cellOf(values(({ firstByteMs }) => firstByteMs)),
    cellOf(values(({ slowFirstByteMs }) => slowFirstByteMs)),
    cellOf(values(({ delayMs }) => delayMs)),
    cellOf(values(({ slowDelayMs }) => slowDelayMs)),
    `${sum(({ waited }) => waited)} of ${sum(({ chunks }) => chunks)}`,
  ]
}

function valuesOf(
  rounds: readonly Round[],
  scenario: StreamScenario,
  name: string,
  figure: (figures: StreamFigures) => number,
): number[] {
  return rounds.flatMap((round) => {
    const figures = round.get(scenario)?.get(name)
    return figures === undefined ? [] : [figure(figures)]
  })
}

function checksOf(scenarios: readonly StreamScenario[], rounds: readonly Round[]): Check[] {
  const [short, paced] = scenarios
  if (short === undefined || paced === undefined) return []
  const waited = valuesOf(rounds, paced, 'Foldgate', (figures) => figures.waited)
  return [
    checkOf(
      'stream-first-byte',
      'added median time to first byte over that of a minimal relay that buffers (1 stream)',
      { kind: 'at most', value: 1.4 },
      rounds.flatMap((round) => addedRatioOf(round, short)),
    ),
    {
      id: 'stream-chunks',
      what: 'chunks that waited for another, in all rounds (1 stream, 10 ms apart)',
      bound: { kind: 'at most', value: 0 },
      value: waited.reduce((sum, count) => sum + count, 0),
      spread: spreadOf(waited),
    },
  ]
}

function addedRatioOf(round: Round, scenario: StreamScenario): number[] {
  const firstByteMs = (name: string): number => round.get(scenario)?.get(name)?.firstByteMs ?? Number.NaN
  const addedMs = (name: string): number => firstByteMs(name) - firstByteMs('direct')
  return [addedMs('Foldgate') / addedMs('buffered relay')]
}
