import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'

/** A message with the text that it is sent as, the same in every request. */
export type RawMessage = { readonly text: string; readonly message: Record<string, unknown> }

/** A recorded conversation, and what its requests carry around their messages. */
export type Recording = {
  /** The file's name without its ending. */
  readonly file: string
  readonly id: string
  readonly messages: readonly RawMessage[]
  /** How many messages each of its requests carried, ascending. */
  readonly points: readonly number[]
  /** The members of the body before `messages` and after them, as JSON text. */
  readonly before: string
  readonly after: string
  /** What stands there with other tools, or another limit of the output. */
  readonly membersAfter: (tools: string, outputTokens: number) => string
  /** The raw JSON of `tools`; '' where there are none. */
  readonly tools: string
}

/** The output limit of replayed requests, in tokens. */
export const OUTPUT_TOKENS = 1024

/** What replayed requests call the model. It is OpenAI's, so that Foldgate's count and the judge's are the same. */
export const MODEL = 'gpt-4o-replay'

/** Every conversation of a folder of recordings, or of one file of it. */
export const readRecordings = (folder: string, onlyFile: string | null): readonly Recording[] =>
  readLines(folder, onlyFile).flatMap(({ file, line, row }) => {
    const id = String(row['id'])
    if (Array.isArray(row['messages'])) return [readConversation(line, file, id)]
    return isObject(row['request']) ? [readRequest(row['request'], file, id)] : []
  })

/** Each line of a folder's files that holds an object, with that. */
export const readLines = (folder: string, onlyFile: string | null) =>
  recordingFiles(folder, onlyFile).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .flatMap((line) => {
        const row: unknown = line.trim() === '' ? null : JSON.parse(line)
        return isObject(row) ? [{ file: fileOf(name), line, row }] : []
      }),
  )

/** The files of a folder of recordings, or the one of this name, with or without its ending. */
export function recordingFiles(folder: string, onlyFile: string | null): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : []
  return names
    .filter((name) => onlyFile === null || name === onlyFile || fileOf(name) === onlyFile)
    .toSorted()
}

/** The members that follow `messages` in a replayed request. */
function membersAfter(tools: string, outputTokens: number): string {
  // Spellings and fields that a re-serialised body would lose.
  const odd = `"temperature":1.0,"seed":12345678901234567890,"x_unknown": {"kept" : [1e400]}`
  return `${tools === '' ? '' : `"tools":${tools},`}"max_tokens":${outputTokens},${odd}`
}

/** A message by its text. */
export function rawMessage(text: string): RawMessage {
  const message: unknown = JSON.parse(text)
  return { text, message: isObject(message) ? message : {} }
}

/** Before every assistant message; the end of a recording was no request. */
export const requestPoints = (messages: readonly RawMessage[]): readonly number[] =>
  messages.flatMap(({ message }, index) => (message['role'] === 'assistant' && index > 0 ? [index] : []))

/** A conversation that was made, with a request at its end as well. */
export function madeRecording(file: string, id: string, messages: readonly RawMessage[]): Recording {
  const points = [...requestPoints(messages), messages.length]
  const after = membersAfter('', OUTPUT_TOKENS)
  return { file, id, messages, points, before: `"model":"${MODEL}"`, after, membersAfter, tools: '' }
}

/** What `tools` says; undefined where there are none. */
export const toolsIn = ({ tools }: Pick<Recording, 'tools'>): unknown =>
  tools === '' ? undefined : JSON.parse(tools)

/** The texts of the messages that a request carries. */
export const textsBefore = ({ messages }: Pick<Recording, 'messages'>, point: number): readonly string[] =>
  messages.slice(0, point).map(({ text }) => text)

/** The same messages without their texts. */
export const messagesOf = (messages: readonly RawMessage[]): readonly Record<string, unknown>[] =>
  messages.map(({ message }) => message)

export const isSystem = ({ message }: RawMessage): boolean =>
  message['role'] === 'system' || message['role'] === 'developer'

/** How many system and developer messages a conversation begins with. */
export function systemCountOf(messages: readonly RawMessage[]): number {
  const firstOther = messages.findIndex((message) => !isSystem(message))
  return firstOther === -1 ? messages.length : firstOther
}

/** At most so many points, evenly spread, the last one among them. */
export function spread(points: readonly number[], most: number | null): readonly number[] {
  const count = Math.min(points.length, most ?? points.length)
  return Array.from({ length: count }, (_, index) => {
    return points[Math.ceil(((index + 1) * points.length) / count) - 1] ?? 0
  })
}

const fileOf = (name: string): string => name.replace(/\.jsonl$/, '')

function readConversation(line: string, file: string, id: string): Recording {
  const { messages: texts, tools } = cutRawRequest(line)
  const messages = texts.map(rawMessage)
  return {
    file,
    id,
    messages,
    points: requestPoints(messages),
    before: `"model":"${MODEL}"`,
    after: membersAfter(tools, OUTPUT_TOKENS),
    membersAfter,
    tools,
  }
}

/** A single recorded request: sent as it is, but for `stream`. */
function readRequest(request: Record<string, unknown>, file: string, id: string): Recording {
  const { messages, stream: _, ...rest } = request
  const sent = Array.isArray(messages) ? messages.map((message) => rawMessage(JSON.stringify(message))) : []
  const tools = rest['tools'] === undefined ? '' : JSON.stringify(rest['tools'])
  return {
    file,
    id,
    messages: sent,
    points: [sent.length],
    before: JSON.stringify(rest).slice(1, -1),
    after: '"x_last":0',
    membersAfter,
    tools,
  }
}
