/**
 * Joins recorded replies that were cut, wherever they were cut, and compares them with the whole.
 *
 *   npm run continuation -- FOLDER
 *
 * FOLDER holds JSON lines: recorded streamed answers (`response`), and conversations (`messages`). Every streamed answer
 * is cut before each of its events, in each of which something had been said, and sent through a Foldgate with
 * `continuation.max: 1`, streamed and plain: what the client gets must be the recorded reply, text and calls. Then the
 * texts of all recorded replies are cut at every character and joined in this process, as text that goes on where it
 * stopped and as text that begins with the words that the model is asked to begin with. Exits with 1 where one differs.
 */
import { continuationSeam, lastWordsOf } from '../../../src/pipeline/reply/seams.ts'
import { fakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { postChat } from '../../support/post-chat.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { readFolderCommand, refuse, runCommand, say } from '../harness/command.ts'
import { readLines, readRecordings } from '../harness/recordings.ts'
import { alignedTable, sumOf } from '../harness/table.ts'
import { readAsClient, type Client } from '../../formats/chat/reply/streamed.ts'

async function run(args: readonly string[], elapsed: () => string): Promise<boolean> {
  const { folder } = readFolderCommand(args, {}, 'npm run continuation -- FOLDER')
  const streams = streamsIn(folder)
  const texts = textsIn(folder)
  if (streams.length + texts.length === 0) refuse(`There are no recordings (*.jsonl) in ${folder}.`)

  const rows = [
    await throughFoldgate('recorded streams, streamed', streams, true),
    await throughFoldgate('recorded streams, plain', streams, false),
    ...ofTexts(texts),
  ]
  const table = [
    ['what was cut', 'replies', 'cuts', 'exact whole'],
    ...rows.map(({ what, replies, cuts, exact }) => [what, String(replies), String(cuts), String(exact)]),
  ]
  say(`${alignedTable(table)}\n${elapsed()}`)
  return rows.every(({ cuts, exact }) => cuts === exact)
}

type Row = { readonly what: string; readonly replies: number; readonly cuts: number; readonly exact: number }

async function throughFoldgate(
  what: string,
  streams: readonly (readonly string[])[],
  isStreamed: boolean,
): Promise<Row> {
  let cut: CutAnswer | null = null
  let asked = 0
  const upstream = await fakeUpstream((_request, outgoing) => {
    asked += 1
    const events = (asked === 1 ? cut?.first : cut?.second) ?? []
    const type = isStreamed ? 'text/event-stream' : 'application/json'
    outgoing.writeHead(200, { 'content-type': type })
    outgoing.end(isStreamed ? [...events, 'data: [DONE]\n\n'].join('') : JSON.stringify(plainOf(events)))
  })
  const foldgate = await startFoldgate({ upstream: upstream.url, profile: { continuation: { max: 1 } } })
  let [cuts, exact] = [0, 0]
  for (const events of streams) {
    for (const at of cutsOf(events)) {
      cut = cutAnswer(events, at)
      asked = 0
      const { text } = await postChat(foldgate.url, {
        model: 'm',
        messages: [{ role: 'user', content: 'Go.' }],
        ...(isStreamed ? { stream: true } : {}),
      })
      cuts += 1
      const got = isStreamed ? wholeOf(text.split(/(?<=\n\n)/)) : wholeInPlain(text)
      if (JSON.stringify(got) === JSON.stringify(cut.whole)) exact += 1
    }
    upstream.requests.splice(0)
  }
  await foldgate.close()
  await upstream.close()
  return { what, replies: streams.length, cuts, exact }
}

function ofTexts(texts: readonly string[]): readonly Row[] {
  const tallies = texts.map(tallyText)
  const sum = (key: keyof (typeof tallies)[number]) => sumOf(tallies, (tally) => tally[key])
  const replies = texts.length
  return [
    { what: 'recorded texts, going on where they stopped', replies, cuts: sum('cuts'), exact: sum('exact') },
    {
      what: 'recorded texts, repeating their last words',
      replies,
      cuts: sum('anchored'),
      exact: sum('exactAnchored'),
    },
  ]
}

function wholeInPlain(text: string): Whole {
  const { choices } = JSON.parse(text)
  const { message, finish_reason: reason } = choices[0]
  const calls = (message.tool_calls ?? []).map((call: { id: string; function: object }) => ({
    id: call.id,
    ...call.function,
  }))
  return { text: message.content ?? '', calls, reason }
}

const streamsIn = (folder: string): readonly (readonly string[])[] =>
  readLines(folder, null).flatMap(({ row: { contentType, response } }) =>
    contentType === 'text/event-stream' && typeof response === 'string' ? [eventsIn(response)] : [],
  )

function textsIn(folder: string): readonly string[] {
  const texts = readRecordings(folder, null).flatMap(({ messages }) =>
    messages.flatMap(({ message: { role, content } }) =>
      role === 'assistant' && typeof content === 'string' && content.trim() !== '' ? [content] : [],
    ),
  )
  return [...new Set(texts)]
}

/** What is compared of a reply: what the client shows and does. */
type Whole = Pick<Client, 'text' | 'calls'> & { readonly reason: string }

/** A recorded answer that was cut, what follows when the model is asked to go on, and what both together are. */
type CutAnswer = {
  readonly first: readonly string[]
  readonly second: readonly string[]
  readonly whole: Whole
}

/** The reply that a stream of events amounts to. */
function wholeOf(events: readonly string[]): Whole {
  const { text, calls, reasons } = readAsClient(events)
  return { text, calls, reason: reasons.join() }
}

/** The events of a recorded stream, but for its last word. */
const eventsIn = (response: string): readonly string[] =>
  response.split(/(?<=\n\n)/).filter((event) => event.startsWith('data: {'))

/**
 * A recorded answer cut before event `at`, as the output limit cuts: what is left of it ends with `length`. Asked to go
 * on, the model writes the rest of a text; a call that was cut it makes once more. Where others were complete before it,
 * they are the reply.
 */
function cutAnswer(events: readonly string[], at: number): CutAnswer {
  const first = [...events.slice(0, at), ending(events[0] ?? '')]
  const cut = wholeOf(first)
  const firstCall = events.findIndex((event) => callsIn(event).length > 0)
  const isInCall = firstCall !== -1 && at > firstCall
  const whole = wholeOf(events)
  const complete = cut.calls.filter(({ arguments: text }) => isComplete(text))
  if (isInCall && complete.length > 0) {
    const reason = complete.length === cut.calls.length ? 'length' : 'tool_calls'
    return { first, second: [], whole: { text: whole.text, calls: complete, reason } }
  }
  return { first, second: events.slice(isInCall ? firstCall : at), whole }
}

/** Where a recorded answer can be cut so that something was said before. */
const cutsOf = (events: readonly string[]): readonly number[] =>
  events.flatMap((_, at) => {
    const { text, calls } = wholeOf(events.slice(0, at))
    return at < events.length - 1 && (text.trim() !== '' || calls.length > 0) ? [at] : []
  })

/** A stream's events as one plain answer. */
function plainOf(events: readonly string[]): object {
  const { text, calls, reason } = wholeOf(events)
  const toolCalls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  }
  return {
    id: 'plain',
    object: 'chat.completion',
    created: 1,
    choices: [{ index: 0, message, finish_reason: reason }],
  }
}

/** How cut texts came out. */
type TextTally = {
  readonly cuts: number
  readonly exact: number
  readonly anchored: number
  readonly exactAnchored: number
}

/**
 * A text cut at every place: joined with its rest, and, where the model was asked to begin with the last words, with
 * these and its rest.
 */
function tallyText(whole: string): TextTally {
  let [exact, anchored, exactAnchored] = [0, 0, 0]
  for (let at = 1; at < whole.length; at += 1) {
    const before = whole.slice(0, at)
    const rest = whole.slice(at)
    const anchor = before.trim() === '' ? '' : lastWordsOf(before)
    if (joined(before, anchor, rest) === whole) exact += 1
    if (anchor === '') continue
    anchored += 1
    const blanks = before.slice(before.trimEnd().length)
    if (joined(before, anchor, anchor + blanks + rest) === whole) exactAnchored += 1
  }
  return { cuts: Math.max(0, whole.length - 1), exact, anchored, exactAnchored }
}

function ending(event: string): string {
  const chunk: unknown = JSON.parse(event.slice('data: '.length))
  const choices = [{ index: 0, delta: {}, finish_reason: 'length' }]
  return `data: ${JSON.stringify({ ...(isObject(chunk) ? chunk : {}), choices })}\n\n`
}

function callsIn(event: string): readonly unknown[] {
  const chunk: unknown = JSON.parse(event.slice('data: '.length))
  const choices = isObject(chunk) && Array.isArray(chunk['choices']) ? chunk['choices'] : []
  const [choice]: unknown[] = choices
  const delta = isObject(choice) && isObject(choice['delta']) ? choice['delta'] : {}
  return Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
}

function isComplete(argumentsText: string): boolean {
  try {
    return isObject(JSON.parse(argumentsText))
  } catch {
    return false
  }
}

function joined(before: string, anchor: string, answer: string): string {
  const seam = continuationSeam(before, anchor)
  return before + seam.feed(answer) + seam.end()
}

await runCommand(run)
