import { expect } from 'vitest'
import type { Reply } from '../../../src/formats/answer-contract.ts'
import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import type { Script } from '../../support/fake-upstream.ts'

/** One answer of a model, in whichever form the request asks for. */
export type ScriptedReply = {
  readonly text?: string
  readonly reasoning?: string
  readonly calls?: readonly { readonly name: string; readonly arguments: string; readonly id?: string }[]
  /** Default: `tool_calls` where there are calls, else `stop`. */
  readonly reason?: string
  readonly usage?: object
}

export type Asked = {
  readonly messages: readonly {
    readonly role: string
    readonly content?: unknown
    readonly tool_call_id?: string
    readonly tool_calls?: readonly {
      readonly id: string
      readonly function: { readonly arguments: string }
    }[]
  }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly stream?: boolean
  readonly stream_options?: unknown
}

/** What Foldgate reads of a plain answer with this message. */
export const replyOf = (message: object, reason: string): Reply =>
  chatCompletions.replies.read({ choices: [{ message, finish_reason: reason }] }) ?? expect.fail('no reply')

export const RECALL = 'recall_conversation'

export const hasRecall = ({ tools = [] }: Asked): boolean =>
  tools.some((tool) => tool.function.name === RECALL)

let answers = 0

/** A model: what it says to a request. Streams one character of text at a time where the request streams. */
export const model = (reply: (asked: Asked) => ScriptedReply | Script): Script =>
  async function answerAsModel(request, outgoing) {
    const asked: Asked = JSON.parse(request.body.toString())
    const said = reply(asked)
    if (typeof said === 'function') return said
    answers += 1
    const id = `chatcmpl-${answers}`
    if (asked.stream !== true) {
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      return void outgoing.end(JSON.stringify(plain(id, said)))
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks(id, said, asked.stream_options !== undefined)) {
      outgoing.write(`data: ${JSON.stringify(chunk)}\n\n`)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    return void outgoing.end('data: [DONE]\n\n')
  }

const usageOf = ({ usage }: ScriptedReply) =>
  usage ?? { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

const reasonOf = ({ reason, calls }: ScriptedReply): string =>
  reason ?? (calls === undefined ? 'stop' : 'tool_calls')

function wireCalls({ calls = [] }: ScriptedReply) {
  return calls.map((call, at) => ({
    id: call.id ?? `call_${answers}_${at}`,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
}

function plain(id: string, said: ScriptedReply): object {
  const message = {
    role: 'assistant',
    content: said.text ?? null,
    refusal: null,
    ...(said.reasoning === undefined ? {} : { reasoning_content: said.reasoning }),
    ...(said.calls === undefined ? {} : { tool_calls: wireCalls(said) }),
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: reasonOf(said) }]
  return { id, object: 'chat.completion', created: 1, model: 'fake-model', choices, usage: usageOf(said) }
}

function chunks(id: string, said: ScriptedReply, statesUsage: boolean): object[] {
  const around = { id, object: 'chat.completion.chunk', created: 1, model: 'fake-model' }
  const deltas: object[] = [{ role: 'assistant', content: '' }]
  for (const character of said.reasoning ?? '') deltas.push({ reasoning_content: character })
  for (const character of said.text ?? '') deltas.push({ content: character })
  wireCalls(said).forEach((call, index) => {
    deltas.push({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: '' } }] })
    for (const piece of call.function.arguments.match(/[\s\S]{1,5}/g) ?? [])
      deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] })
  })
  const made = (delta: object, reason: string | null) => ({
    ...around,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  const all: object[] = [...deltas.map((delta) => made(delta, null)), made({}, reasonOf(said))]
  if (statesUsage) all.push({ ...around, choices: [], usage: usageOf(said) })
  return all
}
