import { ChatError, type ChatAnswer, type ChatClient, type ChatMessage } from './chat-client.ts'
import type { ScriptedConversation, ScriptedStep } from './conversation.ts'
import type { ReplyScript } from './reply-script.ts'
import type { AcceptedRequest } from './strict-upstream.ts'
import { isObject } from './wire-message.ts'

/** A request of the conversation as it went. */
export type HeldRequest = {
  readonly step: ScriptedStep
  /** Exactly one of the two is null. */
  readonly answer: ChatAnswer | null
  readonly error: ChatError | null
  /** Whether the answer holds the fact that was asked for; null where none was. */
  readonly isFactKept: boolean | null
}

/**
 * Holds the scripted conversation through a client, one request after the other, each with everything that was
 * said before. After a request that failed it goes on with the reply that was in the script.
 */
export async function* holdConversation(
  client: ChatClient,
  conversation: ScriptedConversation,
  model: string,
): AsyncGenerator<HeldRequest> {
  const messages: ChatMessage[] = [{ role: 'system', content: conversation.system }]
  for (const [index, step] of conversation.steps.entries()) {
    if (step.user !== null) messages.push({ role: 'user', content: step.user })
    let answer: ChatAnswer | null = null
    let error: ChatError | null = null
    try {
      const metadata = { step: String(index) }
      answer = await client.send({
        model,
        messages,
        tools: conversation.tools,
        metadata,
        outputTokensMax: OUTPUT_TOKENS_MAX,
        usageAsked: true,
      })
    } catch (thrown) {
      if (!(thrown instanceof ChatError)) throw thrown
      error = thrown
    }
    const message = answer?.message ?? scriptedMessage(step.reply)
    messages.push(message)
    for (const call of message.tool_calls ?? []) {
      const content = step.results.get(call.id) ?? 'There is no such call.'
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
    const isFactKept = step.asks === null ? null : (message.content ?? '').includes(step.asks.value)
    yield { step, answer, error, isFactKept }
  }
}

/**
 * The part of the model: replies with what the script has for the step that the request names. Asked for a fact it
 * gives it back only where the prompt that reached it still holds it.
 */
export function replyFromScript(conversation: ScriptedConversation) {
  return function reply(request: AcceptedRequest): ReplyScript {
    const { metadata } = request.body
    const step = conversation.steps[Number(isObject(metadata) ? metadata['step'] : -1)]
    if (step === undefined) return { content: 'I have nothing to say to that.' }
    const fact = step.asks
    if (fact === null || (step.reply.toolCalls ?? []).length > 0) return step.reply
    const isKnown = request.rawMessages.some((message) => message.includes(fact.value))
    return { content: `${step.reply.content} ${isKnown ? fact.value : 'I cannot find it any more.'}` }
  }
}

// --- internal ---

// Longer than any reply of the script, so that most of the window is left to the prompt.
const OUTPUT_TOKENS_MAX = 512

function scriptedMessage(reply: ReplyScript): ChatMessage & { role: 'assistant' } {
  const calls = (reply.toolCalls ?? []).map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.argumentsText },
  }))
  return { role: 'assistant', content: reply.content, ...(calls.length > 0 && { tool_calls: calls }) }
}
