import { isObject } from '../../support/strict-upstream/wire-message.ts'
import type { RawMessage } from '../harness/recordings.ts'

/** What each message takes in the prompt, asked of llama.cpp's server: the client that knows it all. */
export async function messageSizes(
  origin: string,
  messages: readonly RawMessage[],
): Promise<(message: RawMessage) => number> {
  const promptTokens = async (texts: readonly string[]): Promise<number> => {
    const written = await askJson(origin, '/apply-template', `{"messages":[${texts.join(',')}]}`)
    const prompt = JSON.stringify(written['prompt'])
    const counted = await askJson(origin, '/tokenize', `{"content":${prompt},"add_special":false}`)
    return Array.isArray(counted['tokens']) ? counted['tokens'].length : 0
  }
  // Behind an assistant message the server would write on.
  const behind = '{"role":"user","content":"Go on."}'
  const behindTokens = await promptTokens([behind])
  const sizes = new Map<string, number>()
  for (const { text } of messages) sizes.set(text, (await promptTokens([text, behind])) - behindTokens)
  return ({ text }) => sizes.get(text) ?? 0
}

// --- internal ---

async function askJson(origin: string, path: string, body: string): Promise<Record<string, unknown>> {
  const answer = await fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const value: unknown = await answer.json()
  if (answer.ok && isObject(value)) return value
  throw new Error(`${path} was answered with ${answer.status}: ${JSON.stringify(value)}`)
}
