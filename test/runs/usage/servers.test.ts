import { expect, test } from 'vitest'
import { honestServer, ollamaKinds, ollamaServer } from './servers.ts'
import { chosen, requestBody, talksBy, withAdded } from './talks.ts'
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

test('Ollama states its window once it has loaded the model, where it can be asked', () => {
  const [open, closed] = ollamaKinds
  const server = ollamaServer(open, 4096, count)
  expect(server.told('/api/ps')).toEqual({ models: [] })
  server.take(promptOf(['user', 10]), 0)
  expect(server.told('/api/ps')).toMatchObject({ models: [{ context_length: 4096 }] })
  expect(ollamaServer(closed, 4096, count).told('/api/ps')).toBeNull()
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

const talks = talksBy({ folder: null, file: null })
const some = (requestsMax: number) => chosen(talks, { talksMax: 1, requestsMax }, 0).slice(0, 1)

test('conversations take turns until each had its own, one of each file before a second one', () => {
  const sampling = { talksMax: 2, requestsMax: 100 }
  const seen = [0, 1, 2].map((turn) => chosen(talks, sampling, turn).map(({ id }) => id))
  expect(new Set(seen.flat()).size).toBe([...talks.values()].flat().length)
  for (const [one, other] of seen) expect(one).not.toBe(other)
})

test('of the requests the first ones are walked one after the other, and the last one always', () => {
  const [whole = [], ten = []] = [some(1000), some(10)].map(([talk]) => talk?.points)
  expect(ten).toHaveLength(10)
  expect([...ten.slice(0, 5), ten.at(-1)]).toEqual([...whole.slice(0, 5), whole.at(-1)])
})

test('a streamed request asks for usage only where its client does, and thoughts stand in every reply', () => {
  expect.assertions(6)
  for (const talk of some(10)) {
    const bodyOf = (stream: 'no' | 'bare' | 'with-usage'): unknown =>
      JSON.parse(requestBody(talk, 2, { model: 'house-model', stream }).text)
    expect(bodyOf('no')).toMatchObject({ model: 'house-model', stream: false })
    expect(bodyOf('bare')).toMatchObject({ stream: true })
    expect(bodyOf('bare')).not.toHaveProperty('stream_options')
    expect(bodyOf('with-usage')).toMatchObject({ stream_options: { include_usage: true } })
    const thinking = withAdded(talk, 'thoughts')
    const replies = thinking.messages.filter(({ message }) => message['role'] === 'assistant')
    expect(replies.every(({ message }) => typeof message['reasoning_content'] === 'string')).toBe(true)
    expect(withAdded(talk, 'thoughts')).toEqual(thinking)
  }
})
