import { ChatError, type ChatClient } from './chat-client.ts'
import type { ChatAnswer, ChatMessage } from './chat.ts'
import type { ScriptedConversation, ScriptedStep } from './conversation.ts'
import type { DemoUpstreamOptions } from './demo-upstream.ts'

/** A request of the conversation as it went. */
export type HeldRequest = {
  readonly step: ScriptedStep
  readonly answer: ChatAnswer | ChatError
  /** Whether the answer holds the fact that was asked for; null if none was. */
  readonly isFactKept: boolean | null
}

/**
 * Holds the scripted conversation through a client, one request after the other, each with everything that was
 * said before. After a request that failed it goes on with the reply that was in the script.
 */
export async function* holdConversation(
  send: ChatClient,
  { system, tools, steps }: ScriptedConversation,
  model: string,
): AsyncGenerator<HeldRequest> {
  const messages: ChatMessage[] = [{ role: 'system', content: system }]
  for (const [index, step] of steps.entries()) {
    if (step.user !== null) messages.push({ role: 'user', content: step.user })
    const metadata = { step: String(index) }
    const answer = await send({ model, messages, tools, metadata, max_tokens: OUTPUT_TOKENS })
    const message = answer instanceof ChatError ? step.reply : answer.message
    messages.push(message)
    for (const { id } of message.tool_calls ?? []) {
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: step.results.get(id) ?? 'There is no such call.',
      })
    }
    const isFactKept = step.asks === null ? null : (message.content ?? '').includes(step.asks.value)
    yield { step, answer, isFactKept }
  }
}

/**
 * The part of the model: replies with what the script has for the step that the request names. Asked for a fact it
 * gives it back only if the prompt that reached it still holds it.
 */
export function replyFromScript({ steps }: ScriptedConversation): DemoUpstreamOptions['reply'] {
  return function reply(index, prompt) {
    const step = steps[Number(index)]
    if (step === undefined) return { role: 'assistant', content: 'I have nothing to say to that.' }
    if (step.asks === null) return step.reply
    const isKnown = prompt.includes(step.asks.value)
    const ending = isKnown ? step.asks.value : 'I cannot find it any more.'
    return { role: 'assistant', content: `${step.reply.content} ${ending}` }
  }
}

// --- internal ---

// Longer than any reply of the script, so that most of the window is left to the prompt.
const OUTPUT_TOKENS = 512
