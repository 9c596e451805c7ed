import { isObject } from '../../support/strict-upstream/wire-message.ts'
import type { Recording } from '../replay/recordings.ts'
import { bodyOf } from '../replay/subject.ts'

/** A plain request of these messages with the recording's tools, which asks for so many tokens at most. */
export function requestBody(recording: Recording, texts: readonly string[], outputTokens: number): Buffer {
  const before = withoutOwn(recording.before)
  return bodyOf({ ...recording, before }, texts, { tools: recording.tools, outputTokens })
}

// --- internal ---

/** A recorded request has tools and a limit of its own, and no member is to stand there twice. */
function withoutOwn(members: string): string {
  const body: unknown = JSON.parse(`{${members}}`)
  if (!isObject(body)) return members
  const { tools: _tools, max_tokens: _old, max_completion_tokens: _new, ...others } = body
  return JSON.stringify(others).slice(1, -1)
}
