import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openDice } from '../../../src/commands/demo/dice.ts'
import { startSoaked, openFilesMax, vitalSigns } from './program.ts'
import { startSoakUpstream } from './upstream.ts'
import { openVisitor, openVisits } from './visits.ts'

export type IdleReport = {
  readonly text: string
  readonly wrong: readonly string[]
  readonly kilobytesEach: number
}

/**
 * Opens so many connections to a Foldgate and leaves them at every stage of a request. It has to answer others
 * meanwhile, to end those that never finish what they began, to keep those that may come back, and to be as before when
 * all are gone.
 */
export async function idleConnections(asked: number): Promise<IdleReport> {
  // Foldgate has other files open as well.
  const count = Math.min(asked, openFilesMax() - 500)
  const upstream = await startSoakUpstream()
  const foldgate = await startSoaked({ upstream: upstream.url, settings, profile: {} })
  const wrong: string[] = []
  const lines: string[] = []
  const kept: Kept[] = []
  try {
    const before = vitalSigns(foldgate.pid)
    for (let opened = 0; opened < count; opened += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, count - opened) }, (_, index) => opened + index)
      kept.push(...(await Promise.all(batch.map((number) => open(foldgate.port, stageOf(number))))))
    }
    const during = vitalSigns(foldgate.pid)
    const kilobytesEach = ((during.memoryMegabytes - before.memoryMegabytes) * 1024) / count
    lines.push(
      `${count} idle connections${count < asked ? ` of ${asked}: more files may not be open here` : ''}: ${during.sockets} sockets, ${Math.round(during.memoryMegabytes)} MB (${Math.round(before.memoryMegabytes)} before), ${kilobytesEach.toFixed(1)} KB each.`,
    )
    const outcomes = await visitBeside(foldgate.port)
    lines.push(`Beside them ${outcomes.length} requests were answered.`)
    wrong.push(...outcomes.filter((outcome) => outcome.startsWith('wrong')))

    await until(() => kept.every(({ stage, closed }) => stage === 'between requests' || closed))
    for (const stage of stages) {
      const these = kept.filter((each) => each.stage === stage)
      const closed = these.filter((each) => each.closed).length
      const told = these.filter((each) => each.answer.includes(' 408 ')).length
      lines.push(
        `${stage.padEnd(17)} ${these.length}: ${closed} closed by Foldgate, ${told} of them told why (408)`,
      )
      const due = stage === 'between requests' ? 0 : these.length
      if (closed !== due)
        wrong.push(`${closed} of ${these.length} connections ${stage} were closed, not ${due}`)
      if (stage !== 'between requests' && told < closed)
        wrong.push(`${closed - told} connections ${stage} were closed without a word`)
    }
    for (const { socket } of kept) socket.destroy()
    await until(() => vitalSigns(foldgate.pid).files <= before.files + FILES_SLACK)
    const after = vitalSigns(foldgate.pid)
    lines.push(`When all are gone: ${after.files} files, ${before.files} before.`)
    if (after.files > before.files + FILES_SLACK)
      wrong.push(`${after.files} files are open after the idle connections, ${before.files} were before`)
    return { text: lines.join('\n'), wrong, kilobytesEach }
  } finally {
    for (const { socket } of kept) socket.destroy()
    const exitCode = await foldgate.stop()
    if (exitCode !== '0') wrong.push(`Foldgate ended with ${exitCode} after the idle connections`)
    wrong.push(...foldgate.complaints().map((line) => `Foldgate said: ${line}`))
    await upstream.close()
  }
}

const stages = ['silent', 'in the headers', 'in the body', 'between requests'] as const

type Stage = (typeof stages)[number]

type Kept = { readonly socket: Socket; readonly stage: Stage; closed: boolean; answer: string }

/** Shorter than by default: what they end is waited for. */
const settings = {
  limits: { headers_s: 5, idle_s: 8 },
  drain: { delay_s: 0, timeout_s: 5 },
  log_level: 'error',
}

/** Fewer than wait for being accepted at a time. */
const BATCH = 250

/** For what ends by a limit above, and for a busy machine, in milliseconds. */
const PATIENCE_MS = 60_000

const FILES_SLACK = 8

/** What each has sent when it falls silent. */
const sent: Readonly<Record<Stage, string>> = {
  silent: '',
  'in the headers': 'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-ty',
  'in the body':
    'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"model":"m",',
  'between requests': 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n',
}

/** A request in its body takes one of the places that `limits.concurrent` has: these stay well below. */
function stageOf(number: number): Stage {
  if (number % 20 === 0) return 'in the body'
  return number % 3 === 0 ? 'silent' : number % 3 === 1 ? 'in the headers' : 'between requests'
}

async function open(port: number, stage: Stage): Promise<Kept> {
  const socket = connect(port, '127.0.0.1')
  const kept: Kept = { socket, stage, closed: false, answer: '' }
  socket.on('error', () => {})
  socket.on('data', (piece: Buffer) => {
    kept.answer += piece.toString('latin1')
  })
  socket.on('close', () => {
    kept.closed = true
  })
  await once(socket, 'connect')
  socket.write(sent[stage])
  if (stage === 'between requests') await once(socket, 'data')
  return kept
}

async function visitBeside(port: number): Promise<readonly string[]> {
  const dice = openDice(3)
  const visits = openVisits('gnu', 1, dice)
  const visitor = openVisitor(port)
  const outcomes: string[] = []
  while (outcomes.length < 40) {
    const { outcome, text } = await visitor.visit({ ...visits.next(), manner: 'stays' }, 'beside', dice)
    outcomes.push(outcome)
    visits.answered(text)
  }
  visitor.leave()
  return outcomes
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (!isSo() && Date.now() < deadline) await pause(100)
}
