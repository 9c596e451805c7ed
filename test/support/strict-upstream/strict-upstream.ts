import { openJudge, unread, type JudgeOptions, type Verdict } from './judgement.ts'
import {
  refuse,
  sendEvents,
  sendJson,
  serveRecorded,
  type Accepted,
  type ReplyOptions,
} from './local-server.ts'
import { plainReply, streamedReply, type ReplyScript } from './reply-script.ts'
import { isObject, textOf } from './wire-message.ts'

export type StrictUpstreamOptions = JudgeOptions & ReplyOptions<Verdict, ReplyScript>

export type AcceptedRequest = Accepted<Verdict>

export type StrictUpstream = Awaited<ReturnType<typeof startStrictUpstream>>

/**
 * An OpenAI-compatible server on a free port of 127.0.0.1 which is as strict as the real ones: it refuses
 * invalid message sequences and prompts over its window in OpenAI's words, and reports the tokens that an
 * exact-prefix cache would have served. The demo talks to it, and Foldgate's tests take it as their judge.
 */
export async function startStrictUpstream(options: StrictUpstreamOptions) {
  const judge = openJudge(options)
  let replies = 0
  return serveRecorded<Verdict>({ record: options.record, unread }, async (request, response, keep) => {
    const { method, route, headers, body } = request
    if (body === null) {
      keep(413)
      return refuse(response, 413, { message: 'The request body is too large.', param: null, code: null })
    }
    if (method === 'GET' && route === '/v1/models') {
      keep(200)
      return sendJson(response, 200, modelList)
    }
    if (method !== 'POST' || !route.endsWith('/chat/completions')) {
      keep(404)
      return refuse(response, 404, { message: `Invalid URL (${method} ${route})`, param: null, code: null })
    }

    const verdict = judge(body.toString('utf8'), headers.authorization ?? '')
    keep(verdict.rejection === null ? 200 : 400, verdict)
    if (verdict.rejection !== null) return refuse(response, 400, verdict.rejection)
    replies += 1
    const script = await options.reply({ ...verdict, headers })
    const frame = {
      id: `chatcmpl-strict${replies}`,
      model: textOf(verdict.body['model']),
      createdS: Math.floor(Date.now() / 1000),
    }
    const completionTokens = completionTokensOf(script, options.count)
    const usage = options.statesUsage === false ? null : { ...verdict, completionTokens }
    if (verdict.body['stream'] !== true) return sendJson(response, 200, plainReply(frame, script, usage))
    sendEvents(response, streamedReply(frame, script, usage, isUsageAsked(verdict.body)))
  })
}

const modelList = JSON.stringify({
  object: 'list',
  data: [{ id: 'strict-model', object: 'model', created: 1_700_000_000, owned_by: 'foldgate-demo' }],
})

function isUsageAsked(body: Record<string, unknown>): boolean {
  const asked = body['stream_options']
  return isObject(asked) && asked['include_usage'] === true
}

function completionTokensOf(script: ReplyScript, count: (text: string) => number): number {
  const calls = (script.toolCalls ?? []).map((call) => `${call.name}${call.argumentsText}`)
  return [script.content ?? '', ...calls].reduce((sum, text) => sum + count(text), 0)
}
