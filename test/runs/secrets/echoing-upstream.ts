import type { ServerResponse } from 'node:http'
import {
  completion,
  fakeUpstream,
  json,
  overflow,
  stream,
  type FakeUpstream,
  type ReceivedRequest,
  type Script,
} from '../../support/fake-upstream.ts'

/** What a request wants to be answered, in `x-script`; without it a plain answer. */
export const scriptNames = [
  'plain',
  'stream',
  'overflow',
  'recall',
  'cut',
  'endless',
  'echo-400',
  'echo-401',
  'echo-403',
  'echo-429',
  'echo-500',
  'echo-200',
  'echo-event',
] as const

export type ScriptName = (typeof scriptNames)[number]

/**
 * An upstream that answers as it is asked to, and in its refusals repeats all that it was sent of credentials, as some
 * do. Questions about windows it refuses in the same way.
 */
export function echoingUpstream(): Promise<FakeUpstream> {
  return fakeUpstream(answer, { onQuestion: echo(401) })
}

// --- internal ---

const answer: Script = (request, outgoing, incoming) => {
  const name = scriptNames.find((each) => each === request.headers['x-script']) ?? 'plain'
  return scripts[name](request, outgoing, incoming)
}

const scripts: Readonly<Record<ScriptName, Script>> = {
  plain: completion('Understood.'),
  stream: stream('Understood, all of it.'),
  overflow: (request, outgoing, incoming) =>
    (request.body.length > OVERFLOW_BYTES ? overflow(9_000) : completion('Understood.'))(
      request,
      outgoing,
      incoming,
    ),
  recall: (request, outgoing, incoming) =>
    (request.body.includes('"call_recall"') ? completion('Understood.') : recall)(
      request,
      outgoing,
      incoming,
    ),
  cut: stream('Understood, but for', 'cut'),
  endless: stream('Understood, and', 'never'),
  'echo-400': echo(400),
  'echo-401': echo(401),
  'echo-403': echo(403),
  'echo-429': echo(429),
  'echo-500': echo(500),
  'echo-200': (request, outgoing, incoming) => json(refusalOf(request))(request, outgoing, incoming),
  'echo-event': echoAsEvent,
}

const OVERFLOW_BYTES = 30_000

function echo(status: number): Script {
  return (request, outgoing, incoming) =>
    json(refusalOf(request), status, { 'www-authenticate': `Bearer error="${credentialsOf(request)}"` })(
      request,
      outgoing,
      incoming,
    )
}

function echoAsEvent(request: ReceivedRequest, outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  outgoing.end(`data: ${JSON.stringify(refusalOf(request))}\n\n`)
}

function refusalOf(request: ReceivedRequest) {
  const message = `Incorrect API key provided: ${credentialsOf(request)} in ${request.url}`
  return { error: { message, type: credentialsOf(request), param: null, code: 'invalid_api_key' } }
}

function credentialsOf({ headers }: ReceivedRequest): string {
  return ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie']
    .flatMap((name) => headers[name] ?? [])
    .join(' ')
}

const recall = json({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'fake-model',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_recall', type: 'function', function: { name: 'recall_conversation', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
})
