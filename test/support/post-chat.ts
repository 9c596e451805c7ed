import { cutRawRequest } from './strict-upstream/raw-request.ts'
import type { TestMessage } from './conversations.ts'

export type ChatReply = {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
  /** `x-foldgate-action`, with its reason. */
  readonly action: string | null
}

/** Sends a chat completion request; a body that is no text and no bytes is sent as JSON. */
export async function postChat(
  url: string,
  body: object | string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<ChatReply> {
  const answer = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test', ...headers },
    signal: signal ?? null,
  })
  const text = await answer.text()
  const header = (name: string) => answer.headers.get(name)
  return { status: answer.status, header, text, action: header('x-foldgate-action') }
}

/** A request with these messages, for a model that no table knows. */
export const chatOf = (messages: readonly TestMessage[], more: object = {}) => ({
  model: 'test-model',
  messages,
  ...more,
})

/** The raw texts of the messages in a body as it reached the upstream. */
export const rawMessages = (request: { readonly body: Buffer } | undefined): readonly string[] =>
  cutRawRequest(request?.body.toString('utf8') ?? '{}').messages

/**
 * The code of an error that Foldgate answers itself, in the shape of whatever API was asked; null for anything else. Of what
 * Anthropic's servers say none is without the name of its request.
 */
export function ownErrorCode(body: Buffer | string): string | null {
  const isOwn = body.includes('"type":"foldgate_error"') || body.includes('},"request_id":null}')
  return isOwn ? (/"code":"(\w+)"/.exec(body.toString())?.[1] ?? null) : null
}
