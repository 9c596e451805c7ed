import { expect, test } from 'vitest'
import { honestServer, ollamaKinds, ollamaServer } from './servers.ts'
import { keyOf, type Prompt } from './true-count.ts'
import { usageKinds } from './usage-kinds.ts'

/** A word is a token here. */
const count = (text: string) => (text === '' ? 0 : text.split(' ').length)

function promptOf(...messages: readonly (readonly [role: string, words: number])[]): Prompt {
  return {
    messages: messages.map(([role, words], index) => {
      const message = { role, content: Array.from({ length: words }, () => `word${index}`).join(' ') }
      return { message, key: keyOf(JSON.stringify(message)) }
    }),
    tools: undefined,
    toolsKey: keyOf(''),
  }
}

function kindNamed(name: string) {
  const kind = usageKinds.find((each) => each.name === name)
  if (kind === undefined) throw new Error(`There is no kind ${name}.`)
  return kind
}

function serverOf(isStrict: boolean) {
  return honestServer(kindNamed('openai'), { windowTokens: 1000, isStrict, count })
}

test('a strict server refuses a prompt that leaves too little for its reply, and a lenient one answers it', () => {
  const prompt = promptOf(['user', 900])
  expect(serverOf(true).take(prompt, 200).statement).toBeNull()
  expect(serverOf(true).take(prompt, 50).statement).not.toBeNull()
  expect(serverOf(false).take(prompt, 200).statement).not.toBeNull()
})

test('what a server saw before is what the prompts share at their beginning', () => {
  const server = honestServer(kindNamed('uncached-bare'), { windowTokens: 1000, isStrict: false, count })
  server.take(promptOf(['system', 100], ['user', 100]), 0)
  const { promptTokens, statement } = server.take(promptOf(['system', 100], ['user', 100], ['user', 50]), 0)
  // The system message and the first one of the user, in blocks of sixteen.
  expect(statement).toMatchObject({ usage: { prompt_tokens: promptTokens - 208 } })
})

test('Ollama leaves out the oldest messages, keeps what the system says, and counts what is left', () => {
  const [kind] = ollamaKinds
  const server = ollamaServer(kind, 400, count)
  const whole = server.take(promptOf(['system', 50], ['user', 100], ['user', 100]), 0)
  expect(whole.isCut).toBe(false)
  const cut = server.take(promptOf(['system', 50], ['user', 300], ['user', 100], ['user', 100]), 0)
  expect(cut.isCut).toBe(true)
  expect(cut.statement).toEqual(whole.statement)
})

test('and cuts the newest where it alone is too long', () => {
  const [kind] = ollamaKinds
  const { statement } = ollamaServer(kind, 400, count).take(promptOf(['user', 10], ['user', 900]), 0)
  expect(statement).toMatchObject({ usage: { prompt_tokens: 400 } })
})

test('Ollama states its window once it has loaded the model, where it can be asked', () => {
  const [open, closed] = ollamaKinds
  const server = ollamaServer(open, 4096, count)
  expect(server.told('/api/ps')).toEqual({ models: [] })
  server.take(promptOf(['user', 10]), 0)
  expect(server.told('/api/ps')).toMatchObject({ models: [{ context_length: 4096 }] })
  expect(ollamaServer(closed, 4096, count).told('/api/ps')).toBeNull()
})
