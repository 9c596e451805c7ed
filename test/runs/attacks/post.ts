import { Agent, request } from 'node:http'
import type { AttackPath } from './attack.ts'

export type Posted = {
  /** 0 where the connection was closed without an answer; -1 where neither came in time. */
  readonly status: number
  /** No more of it than its beginning. */
  readonly text: string
  /** `x-foldgate-action`; '' where there is none. */
  readonly action: string
}

export type Posting = {
  readonly port: number
  readonly body: Buffer
  readonly key: string
  /** By default `chat/completions`. */
  readonly path?: AttackPath
  readonly agent?: Agent
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks for a reply. Whatever becomes of it is a result. */
export function post({
  port,
  body,
  key,
  path = 'chat/completions',
  agent,
  headers,
}: Posting): Promise<Posted> {
  return new Promise((resolve) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: `/v1/${path}`,
      agent: agent ?? new Agent(),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        ...headers,
      },
    })
    const timer = setTimeout(() => {
      resolve({ status: -1, text: `no answer within ${PATIENCE_MS / 1_000} s`, action: '' })
      outgoing.destroy()
    }, PATIENCE_MS)
    outgoing.on('response', (incoming) => {
      let text = ''
      const status = incoming.statusCode ?? 0
      const action = String(incoming.headers['x-foldgate-action'] ?? '')
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < TEXT_CHARACTERS_MAX) text += piece
      })
      incoming.on('close', () => {
        clearTimeout(timer)
        resolve(incoming.complete ? { status, text, action } : { status: 0, text: 'cut', action })
      })
    })
    // Behind an answer it is a refused upload's end.
    outgoing.on('error', (error) => {
      clearTimeout(timer)
      resolve({ status: 0, text: error.message, action: '' })
    })
    outgoing.end(body)
  })
}

// --- internal ---

/** Large bodies take turns, and a busy machine takes its time: whoever waits longer hangs. In milliseconds. */
const PATIENCE_MS = 120_000

const TEXT_CHARACTERS_MAX = 100_000
