import { expect, test } from 'vitest'
import { readAsked, readingOnce } from '../../../src/admin/explain/read-asked.ts'
import { createAsker } from '../../../src/commands/compare/asker.ts'
import { settingsSchema } from '../../../src/config/settings-schema.ts'
import { FoldgateError } from '../../../src/errors.ts'
import { readLimits } from '../../../src/pipeline/read/read-chat.ts'

/** What is asked in the place of a recorded request. */
async function askedFor(recorded: object): Promise<unknown> {
  const limits = readLimits(settingsSchema.parse({}).limits)
  const chat = await readAsked(Buffer.from(JSON.stringify(recorded)), readingOnce(limits))
  const sent: string[] = []
  const ask = createAsker({
    upstreams: {
      send: async ({ body }) => {
        if (body instanceof Buffer) sent.push(body.toString())
        throw new FoldgateError('upstream_unreachable', 'Nobody is there.')
      },
    },
    credentialFor: () => [],
    model: 'meant',
    outputTokens: 300,
    signal: AbortSignal.abort(),
  })
  await ask(chat, null)
  return JSON.parse(sent[0] ?? '')
}

const messages = [{ role: 'user', content: 'hi' }]

test('a request without a limit of its reply gets one', async () => {
  const asked = { model: 'meant', messages, max_tokens: 300 }
  expect(await askedFor({ model: 'recorded', messages })).toEqual(asked)
})

// Ollama's limit stands among the options: `"options":300` was written behind the options that stood there, and a server that goes
// by the later one refused every request.
test.each([{ num_ctx: 4096 }, { num_ctx: 4096, num_predict: 200 }, { num_ctx: 4096, num_predict: 900 }])(
  'the options of a chat with Ollama stay options: %j',
  async (options) => {
    const { num_predict: limit } = { num_predict: undefined, ...options }
    const limited = limit === undefined ? options : { ...options, num_predict: Math.min(limit, 300) }
    const asked = { model: 'meant', messages, options: limited, stream: false }
    expect(await askedFor({ options, messages, model: 'recorded' })).toEqual(asked)
  },
)
