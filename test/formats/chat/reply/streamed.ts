import type { StreamEvent } from '../../../../src/formats/answer-contract.ts'

/** The fields of one chunk, or an event's text as it is. */
export type Said = object | string

/** The events of a streamed answer with these deltas, as OpenAI sends them. */
export function eventsOf(
  deltas: readonly Said[],
  end: { readonly reason?: string | null; readonly usage?: object; readonly id?: string } = {},
): readonly StreamEvent[] {
  const { reason = 'stop', usage, id = 'chatcmpl-1' } = end
  const chunks: Said[] = [
    ...deltas.map((delta) => (typeof delta === 'string' ? delta : chunk(id, delta, null))),
    ...(reason === null ? [] : [chunk(id, {}, reason)]),
    ...(usage === undefined ? [] : [{ ...chunk(id, {}, null), choices: [], usage }]),
  ]
  const texts = chunks.map((each) => (typeof each === 'string' ? each : `data: ${JSON.stringify(each)}\n\n`))
  return [...texts, 'data: [DONE]\n\n'].map((text) => ({ text }))
}

/** What a client makes of a stream. */
export type Client = {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly { id: string; name: string; arguments: string }[]
  readonly reasons: readonly string[]
  readonly ids: ReadonlySet<unknown>
  readonly roles: number
  readonly usage: unknown
  readonly done: number
}

/** Reads a stream as the official SDK does: deltas by index, the last usage, until `[DONE]`. */
export function readAsClient(events: readonly (StreamEvent | string)[]): Client {
  const calls: { id: string; name: string; arguments: string }[] = []
  const reasons: string[] = []
  const ids = new Set<unknown>()
  let [text, reasoning, roles, done] = ['', '', 0, 0]
  let usage: unknown = null
  const whole = events.map((event) => (typeof event === 'string' ? event : event.text)).join('')
  for (const block of whole.split('\n\n')) {
    const data = /^data: ?(.*)/m.exec(block)?.[1]
    if (data === undefined) continue
    if (data === '[DONE]') {
      done += 1
      continue
    }
    const json = JSON.parse(data)
    if (json.usage) usage = json.usage
    for (const { delta, finish_reason: reason } of json.choices ?? []) {
      ids.add(json.id)
      if (delta.role !== undefined) roles += 1
      text += delta.content ?? ''
      reasoning += delta.reasoning_content ?? ''
      if (reason !== null) reasons.push(reason)
      for (const call of delta.tool_calls ?? []) {
        const known = (calls[call.index] ??= { id: '', name: '', arguments: '' })
        known.id ||= call.id ?? ''
        known.name += call.function?.name ?? ''
        known.arguments += call.function?.arguments ?? ''
      }
    }
  }
  return { text, reasoning, calls, reasons, ids, roles, usage, done }
}

function chunk(id: string, delta: object, reason: string | null): object {
  const choices = [{ index: 0, delta, finish_reason: reason }]
  return { id, object: 'chat.completion.chunk', created: id.length, model: 'm', choices }
}
