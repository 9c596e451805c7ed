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
import { fakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { postChat } from '../../support/post-chat.ts'
import { readFolderCommand, refuse, runCommand, say } from '../harness/command.ts'
import { readLines, readRecordings } from '../harness/recordings.ts'
import { alignedTable, sumOf } from '../harness/table.ts'
import {
  cutAnswer,
  cutsOf,
  eventsIn,
  plainOf,
  tallyText,
  wholeOf,
  type CutAnswer,
  type Whole,
} from './cuts.ts'

await runCommand(run)

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

function streamsIn(folder: string): readonly (readonly string[])[] {
  return readLines(folder, null).flatMap(({ row: { contentType, response } }) =>
    contentType === 'text/event-stream' && typeof response === 'string' ? [eventsIn(response)] : [],
  )
}

function textsIn(folder: string): readonly string[] {
  const texts = readRecordings(folder, null).flatMap(({ messages }) =>
    messages.flatMap(({ message: { role, content } }) =>
      role === 'assistant' && typeof content === 'string' && content.trim() !== '' ? [content] : [],
    ),
  )
  return [...new Set(texts)]
}
