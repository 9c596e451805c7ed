import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { recordingFiles } from '../replay/recordings.ts'

/** A recorded conversation whose provider said how large its prompts were. */
export type CountedRecording = {
  readonly id: string
  readonly model: string
  /** The JSON of each message. */
  readonly messages: readonly string[]
  /** The JSON of `tools`; '' where there are none. */
  readonly tools: string
  /** Ascending. */
  readonly requests: readonly CountedRequest[]
}

export type CountedRequest = {
  /** How many messages it carried. */
  readonly messageCount: number
  /** What the provider counted of them. */
  readonly promptTokens: number
}

/** The conversations of a folder that have `usage` rows. */
export function readCountedRecordings(folder: string): readonly CountedRecording[] {
  return recordingFiles(folder, null).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').split('\n').flatMap(readLine),
  )
}

// --- internal ---

function readLine(line: string): readonly CountedRecording[] {
  const row: unknown = line.trim() === '' ? null : JSON.parse(line)
  if (!isObject(row) || !Array.isArray(row['usage']) || !Array.isArray(row['messages'])) return []
  const { messages, tools } = cutRawRequest(line)
  const requests = row['usage'].flatMap(requestOf)
  return [{ id: String(row['id']), model: String(row['model']), messages, tools, requests }]
}

/** `[index, prompt, output]`, or Anthropic's `[index, input, cache read, cache write, output]`. */
function requestOf(row: unknown): readonly CountedRequest[] {
  const figures = Array.isArray(row) ? row.map(Number) : []
  const [messageCount, ...counts] = figures
  if (messageCount === undefined || counts.length < 2) return []
  return [{ messageCount, promptTokens: counts.slice(0, -1).reduce((sum, tokens) => sum + tokens, 0) }]
}
