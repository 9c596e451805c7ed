import { type Dice, openDice, seedOf } from '../../../src/commands/demo/dice.ts'
import { sampleSource } from '../../../src/commands/demo/tools.ts'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** Carries the name of a visit to the server behind Foldgate. */
export const VISIT_HEADER = 'x-soak-visit'

/**
 * Every request carries a mark, by which the server chooses what to answer and the client knows what it has to get. It
 * names the tenant, so that nobody gets or sends what is another's.
 */
const markOf = (tenant: string, number: number): string => `mark-${tenant}-${number.toString(36)}`

/** The tenants whose marks stand in a text. */
export const tenantsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/\bmark-([a-z]+)-/g)].map((found) => found[1] ?? ''))

/** The newest mark in a text; '' where there is none. */
export const lastMarkIn = (text: string): string =>
  [...text.matchAll(/\bmark-[a-z]+-[0-9a-z]+\b/g)].at(-1)?.[0] ?? ''

/** What the server does with a request. */
export type Reply = {
  readonly kind: 'answer' | 'limited' | 'failed' | 'cut'
  /** The pieces in which a stream comes; a plain answer has them at once. */
  readonly pieces: readonly string[]
  /** Between two pieces, in milliseconds. */
  readonly pauseMs: number
}

/** The reply to a mark, the same for whoever asks. */
export function replyTo(mark: string): Reply {
  const dice = openDice(seedOf(mark))
  const roll = dice.below(100)
  const kind = roll < 88 ? 'answer' : roll < 92 ? 'limited' : roll < 96 ? 'failed' : 'cut'
  const length = dice.below(10) === 0 ? 200 : 2 + dice.below(30)
  const pieces = Array.from({ length }, (_, index) => `${mark} ${index}. `)
  return { kind, pieces, pauseMs: dice.pick([0, 0, 2, 10]) }
}

type Message = { readonly role: string; readonly content: string }

/** A client's conversation and uploads, one request after the other. */
export type Visits = {
  readonly next: () => Visit
  /** The conversation goes on with this answer; without it the last question is asked anew. */
  readonly answered: (text: string) => void
}

/**
 * When it is long the client begins the same conversation again: memory that grows all the same is not that of what is
 * remembered. `manners` decides how it behaves, which is never the same.
 */
export function openVisits(tenant: string, worker: number, manners: Dice): Visits {
  let number = 0
  let texts = openDice(0)
  let messages: Message[] = []

  function begin(): void {
    number = worker * NUMBERS
    texts = openDice(number)
    messages = [
      { role: 'system', content: `You work for ${markOf(tenant, number)}.` },
      { role: 'user', content: `Read the sources. ${sampleSource(texts, 10)}` },
    ]
  }
  function chat(mark: string): Omit<Visit, 'tenant' | 'mark' | 'manner'> {
    const stream = texts.below(2) === 0
    const question = `${sampleSource(texts, 5 + texts.below(40))} Asked by ${mark}`
    messages.push({ role: 'user', content: question })
    return {
      kind: stream ? 'streamed chat' : 'plain chat',
      path: '/v1/chat/completions',
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify({ model: 'm', stream, messages })),
    }
  }
  return {
    next: function next() {
      if (messages.length === 0 || messages.length > MESSAGES_MAX || number % NUMBERS === NUMBERS - 1) begin()
      number += 1
      const mark = markOf(tenant, number)
      const roll = texts.below(10)
      const what = roll === 0 ? embeddings(mark) : roll === 1 ? upload(mark, texts) : chat(mark)
      return { ...what, tenant, mark, manner: mannerBy(manners) }
    },
    answered: (text) => {
      if (text === '') messages.pop()
      else messages.push({ role: 'assistant', content: text })
    },
  }
}

/** A conversation is compacted some times before it is this long. */
const MESSAGES_MAX = 60

/** Marks of a conversation; one that is refused again and again is given up before they are used up. */
const NUMBERS = 200

function mannerBy(dice: Dice): Manner {
  const roll = dice.below(100)
  if (roll < 70) return 'stays'
  if (roll < 76) return 'reads slowly'
  if (roll < 82) return 'writes slowly'
  return dice.pick(['leaves while sending', 'leaves while waiting', 'leaves while reading'])
}

const embeddings = (mark: string) => ({
  kind: 'embeddings' as const,
  path: '/v1/embeddings',
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify({ model: 'e', input: mark })),
})

const upload = (mark: string, dice: Dice) => ({
  kind: 'upload' as const,
  path: '/v1/files',
  contentType: 'application/octet-stream',
  body: Buffer.concat([Buffer.alloc(1 + dice.below(1_000_000), 46), Buffer.from(` ${mark}`)]),
})

/** One request, and how its client behaves. */
export type Visit = {
  readonly kind: 'plain chat' | 'streamed chat' | 'embeddings' | 'upload'
  readonly manner: Manner
  readonly tenant: string
  readonly mark: string
  readonly path: string
  readonly contentType: string
  readonly body: Buffer
}

/** Most read to the end; some are slow, some leave. */
export type Manner =
  | 'stays'
  | 'reads slowly'
  | 'writes slowly'
  | 'leaves while sending'
  | 'leaves while waiting'
  | 'leaves while reading'

/** What became of a visit: `compacted` where it was answered, and so; `wrong` begins what must not be. */
export type Outcome = string

export type Visitor = {
  /** `name` is that of this visit alone. */
  readonly visit: (visit: Visit, name: string, dice: Dice) => Promise<{ outcome: Outcome; text: string }>
  readonly leave: () => void
}

/** A client with connections of its own, most of which it keeps. */
export function openVisitor(port: number): Visitor {
  const kept = new Agent({ keepAlive: true })
  const fresh = new Agent({ keepAlive: false })

  return {
    leave: () => {
      kept.destroy()
      fresh.destroy()
    },
    visit: async (visit, name, dice) => {
      const agent = dice.below(5) === 0 ? fresh : kept
      const outgoing = request({
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: visit.path,
        agent,
        headers: {
          authorization: `Bearer key-of-${visit.tenant}`,
          'content-type': visit.contentType,
          [VISIT_HEADER]: name,
          ...(dice.below(4) > 0 && { 'content-length': visit.body.length }),
        },
      })
      const answering = answerTo(outgoing)
      if (!(await send(outgoing, visit, dice))) return { outcome: 'left', text: '' }
      const incoming = await answering
      if (incoming instanceof Error) return { outcome: `wrong: no answer (${incoming.message})`, text: '' }
      const leavesAfterBytes = visit.manner === 'leaves while reading' ? 1 + dice.below(2_000) : null
      const { text, isWhole, left } = await read(incoming, visit.manner === 'reads slowly', leavesAfterBytes)
      return { outcome: left ? 'left' : outcomeOf(visit, incoming, text, isWhole), text: textIn(text) }
    },
  }
}

/** Long enough for all that the machine may do beside; what has not come by then never comes. */
const PATIENCE_MS = 60_000

const answerTo = (outgoing: ClientRequest): Promise<IncomingMessage | Error> =>
  new Promise((resolve) => {
    outgoing.once('response', resolve)
    outgoing.on('error', resolve)
    outgoing.setTimeout(PATIENCE_MS, () => outgoing.destroy(new Error('silence')))
  })

/** False where the client left meanwhile. */
async function send(outgoing: ClientRequest, visit: Visit, dice: Dice): Promise<boolean> {
  const { body, manner } = visit
  if (manner === 'leaves while sending') {
    outgoing.write(body.subarray(0, body.length >> 1))
    await pause(dice.below(20))
    outgoing.destroy()
    return false
  }
  if (manner === 'writes slowly') {
    const step = Math.ceil(body.length / 8)
    for (let at = 0; at < body.length && !outgoing.destroyed; at += step) {
      outgoing.write(body.subarray(at, at + step))
      await pause(15)
    }
    outgoing.end()
    return true
  }
  outgoing.end(body)
  if (manner !== 'leaves while waiting') return true
  await pause(dice.below(30))
  outgoing.destroy()
  return false
}

async function read(incoming: IncomingMessage, isSlow: boolean, leavesAfterBytes: number | null) {
  let text = ''
  let left = false
  try {
    for await (const piece of incoming.setEncoding('utf8')) {
      text += String(piece)
      if (leavesAfterBytes !== null && text.length >= leavesAfterBytes) {
        left = true
        break
      }
      if (isSlow) await pause(5)
    }
  } catch {
    // Cut: `complete` says so.
  }
  return { text, left, isWhole: incoming.complete }
}

/** Compares an answer with what was sent for the request's mark. */
function outcomeOf(
  { kind, mark }: Visit,
  incoming: IncomingMessage,
  text: string,
  isWhole: boolean,
): Outcome {
  const status = incoming.statusCode ?? 0
  if (status === 503 && text.includes('"code":"overloaded"')) {
    return incoming.headers['retry-after'] === undefined ? 'wrong: refused without retry-after' : 'refused'
  }
  const reply = replyTo(mark)
  if (reply.kind === 'limited' || reply.kind === 'failed') {
    const expected = reply.kind === 'limited' ? 429 : 500
    if (status !== expected || !text.includes(`${expected} for ${mark}`)) return unexpected(status, text)
    if (status === 429 && incoming.headers['retry-after'] !== '7') return 'wrong: retry-after was lost'
    return String(status)
  }
  const isStreamed = kind === 'streamed chat'
  if (reply.kind === 'cut') {
    if (isWhole && status !== 502) return unexpected(status, text)
    return isStreamed && !reply.pieces.join('').startsWith(textIn(text)) ? 'wrong: not what was sent' : 'cut'
  }
  if (status !== 200) return unexpected(status, text)
  if (!isWhole) return 'wrong: cut, though nobody did'
  if (isStreamed && !text.endsWith('data: [DONE]\n\n')) return 'wrong: a stream without its end'
  if (textIn(text) !== reply.pieces.join('')) return 'wrong: not what was sent'
  return incoming.headers['x-foldgate-action'] === 'compacted' ? 'compacted' : 'answered'
}

const unexpected = (status: number, text: string): Outcome => `wrong: ${status} ${text.slice(0, 160)}`

/** What the model said, streamed or plain. */
function textIn(body: string): string {
  const contents = [...body.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)]
  return contents.map((found) => String(JSON.parse(`"${found[1]}"`))).join('')
}
