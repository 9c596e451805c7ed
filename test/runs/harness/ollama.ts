import { startOllamaUpstream } from '../../support/ollama/ollama-upstream.ts'
import type { OllamaJudgeOptions } from '../../support/ollama/judgement.ts'
import {
  callsOf,
  isObject,
  parseObject,
  textOf,
  textsOf,
  type WireCall,
} from '../../support/strict-upstream/wire-message.ts'
import { MODEL, OUTPUT_TOKENS, rawMessage, type RawMessage, type Recording } from './recordings.ts'
import { standBetween, type Stage, type StageOptions } from './stage.ts'

/** Whether a server refuses what it is asked to refuse, or drops it without a word. */
export type Temperament = OllamaJudgeOptions['temperament']

/** A Foldgate before the strict Ollama, which knows the window from its requests alone. */
export async function openOllamaStage(
  options: Pick<StageOptions, 'profile' | 'rules' | 'statesUsage' | 'count'> & {
    readonly temperament: Temperament
  },
): Promise<Stage> {
  const { profile, ...asked } = options
  let acceptedMs: number | null = null
  const upstream = await startOllamaUpstream({
    ...asked,
    reply: () => {
      acceptedMs = performance.now()
      return { content: 'Replayed.' }
    },
  })
  return standBetween({
    upstream,
    profile,
    endpoint: '/api/chat',
    isReply: (text) =>
      text.includes('Replayed.') && text.includes('"done":true') && !text.includes('"error"'),
    acceptedMs: () => acceptedMs,
  })
}

type WrittenAs = {
  /** What its requests have the model loaded with. */
  readonly windowTokens: number
  /** Whether calls and results have ids: few clients send those back that they got. */
  readonly hasIds: boolean
}

/** A recording as a client of Ollama has it, message by message. */
export function ollamaRecording(recording: Recording, { windowTokens, hasIds }: WrittenAs): Recording {
  const called = new Map<string, string>()
  const messages = recording.messages.map(({ message }) => {
    for (const { id, name } of callsOf(message)) if (id !== null) called.set(id, name)
    return ollamaMessage(message, called, hasIds)
  })
  const membersAfter = (tools: string, outputTokens: number) =>
    [
      ...(tools === '' ? [] : [`"tools":${tools}`]),
      // Spellings and fields that a re-serialised body would lose.
      `"options": {"num_ctx":${windowTokens},"temperature":1.0,"num_predict":${outputTokens}}`,
      '"keep_alive":"5m","x_unknown": {"kept" : [1e400]}',
    ].join()
  const before = `"model":"${MODEL}"`
  const after = membersAfter(recording.tools, OUTPUT_TOKENS)
  return { ...recording, messages, before, after, membersAfter }
}

/** One message; `called` says which tool a call of this id was of. */
function ollamaMessage(
  message: RawMessage['message'],
  called: ReadonlyMap<string, string>,
  hasIds: boolean,
): RawMessage {
  const role = roles.get(textOf(message['role'])) ?? textOf(message['role'])
  const images = picturesIn(message['content'])
  const calls = callsOf(message).map((call, index) => callText(call, index, hasIds))
  const id = textOf(message['tool_call_id'])
  const tool = textOf(message['name']) || called.get(id)
  const thinking = textOf(message['reasoning_content'])
  const members = [
    `"role": ${JSON.stringify(role)}`,
    `"content":${JSON.stringify(textsOf(message['content']).join('\n'))}`,
    ...(thinking === '' ? [] : [`"thinking":${JSON.stringify(thinking)}`]),
    ...(images.length === 0 ? [] : [`"images":${JSON.stringify(images)}`]),
    ...(calls.length === 0 ? [] : [`"tool_calls":[${calls.join(', ')}]`]),
    ...(role !== 'tool' || tool === undefined ? [] : [`"tool_name":${JSON.stringify(tool)}`]),
    ...(role !== 'tool' || id === '' || !hasIds ? [] : [`"tool_call_id":${JSON.stringify(id)}`]),
  ]
  return rawMessage(`{${members.join()}}`)
}

const roles: ReadonlyMap<string, string> = new Map([
  ['developer', 'system'],
  ['function', 'tool'],
])

/** A call whose arguments are spelt as they were recorded. */
function callText({ id, name, argumentsText }: WireCall, index: number, hasIds: boolean): string {
  const given = parseObject(argumentsText) === null ? JSON.stringify({ input: argumentsText }) : argumentsText
  const own = id === null || !hasIds ? '' : `"id":${JSON.stringify(id)},`
  return `{${own}"function":{"index":${index},"name":${JSON.stringify(name)},"arguments":${given}}}`
}

/** The pictures of a content that stand in it; what is only pointed at cannot be sent. */
const picturesIn = (content: unknown): readonly string[] =>
  (Array.isArray(content) ? content : []).flatMap((part: unknown) => {
    const image = isObject(part) && isObject(part['image_url']) ? textOf(part['image_url']['url']) : ''
    return /^data:[^,]*;base64,(.*)$/s.exec(image)?.[1] ?? []
  })
