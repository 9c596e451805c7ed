import { expect, test } from 'vitest'
import { honestServer, ollamaKinds, ollamaServer } from './servers.ts'
import { keyOf, usageKinds, type Prompt } from './usage-kinds.ts'

const count = (text: string) => (text === '' ? 0 : text.split(' ').length)

const promptOf = (...messages: readonly (readonly [role: string, words: number])[]): Prompt => ({
  messages: messages.map(([role, words], index) => {
    const message = { role, content: Array.from({ length: words }, () => `word${index}`).join(' ') }
    return { message, key: keyOf(JSON.stringify(message)) }
  }),
  tools: undefined,
  toolsKey: keyOf(''),
})

function kindNamed(name: string) {
  const kind = usageKinds.find((each) => each.name === name)
  if (kind === undefined) throw new Error(`There is no kind ${name}.`)
  return kind
}

test.each([
  ['strict', 200, true],
  ['strict', 50, false],
  ['lenient', 200, false],
])('a %s server refuses a prompt of 900 and %i more in 1,000: %s', (manner, outputTokens, isRefused) => {
  const options = { windowTokens: 1000, isStrict: manner === 'strict', count }
  const { statement } = honestServer(kindNamed('openai'), options).take(promptOf(['user', 900]), outputTokens)
  expect(statement === null).toBe(isRefused)
})

test('what a server saw before is what the prompts share at their beginning', () => {
  const server = honestServer(kindNamed('uncached-bare'), { windowTokens: 1000, isStrict: false, count })
  server.take(promptOf(['system', 100], ['user', 100]), 0)
  const { promptTokens, statement } = server.take(promptOf(['system', 100], ['user', 100], ['user', 50]), 0)
  // The system message and the first one of the user, in blocks of sixteen.
  expect(statement).toMatchObject({ usage: { prompt_tokens: promptTokens - 208 } })
})

test('Ollama leaves out the oldest messages, keeps what the system says, cuts the newest, and counts what is left', () => {
  const [kind] = ollamaKinds
  const server = ollamaServer(kind, 400, count)
  const whole = server.take(promptOf(['system', 50], ['user', 100], ['user', 100]), 0)
  const cut = server.take(promptOf(['system', 50], ['user', 300], ['user', 100], ['user', 100]), 0)
  expect([whole.isCut, cut.isCut]).toEqual([false, true])
  expect(cut.statement).toEqual(whole.statement)
  const { statement } = server.take(promptOf(['user', 10], ['user', 900]), 0)
  expect(statement).toMatchObject({ usage: { prompt_tokens: 400 } })
})

test.each([
  ['openai', { prompt_tokens: 4792, prompt_tokens_details: { cached_tokens: 1280 } }],
  ['uncached', { prompt_tokens: 3462, cache_read_input_tokens: 1330 }],
  [
    'uncached-written',
    { prompt_tokens: 8, cache_read_input_tokens: 1330, cache_creation_input_tokens: 3454 },
  ],
  ['blocks-256', { prompt_tokens: 4608 }],
])('usage of the kind %s', (name, usage) => {
  const counted = { promptTokens: 4792, sharedTokens: 1330, completionTokens: 8 }
  expect(kindNamed(name).state(counted)).toMatchObject({ usage })
})
