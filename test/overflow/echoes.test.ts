import { expect, test } from 'vitest'
import type { WholeAnswer } from '../../src/overflow/classify.ts'
import { classifyAnswer } from '../support/chat-completions.ts'
import { recordsIn } from './records.ts'

/** What a client may have written, in the words of overflows. */
const clientTexts: Readonly<Record<string, string>> = {
  'a code': 'context_length_exceeded',
  'the name of an exception': 'ContextWindowExceededError: prompt',
  'a wording without numbers': "the input is longer than the model's context length",
  'a wording of its own sentence': 'Your input exceeds the context window of this model. Please adjust it',
  'another without numbers': 'Context size has been exceeded.',
  'a window and a prompt':
    "This model's maximum context length is 1650 tokens. However, your messages resulted in 9050 tokens.",
  'sizes in brackets':
    'request (9050 tokens) exceeds the available context size (1650 tokens), try increasing it',
  'a comparison': 'prompt is too long: 9050 tokens > 1650 maximum',
  'words nobody has listed': 'Request too long: 9050 input tokens over the limit of 1650',
  'the end of a quotation': "x' is odd. The prompt is too long: 9050 tokens > 1650 maximum. 'y",
  'the end of another': 'x" is odd. The prompt is too long: 9050 tokens > 1650 maximum. "y',
  'an error of its own': '{"error":{"message":"prompt is too long: 9050 tokens > 1650 maximum"}}',
  'an error with a code': '{"error":{"code":"context_length_exceeded","n_prompt_tokens":9050,"n_ctx":1650}}',
}

/**
 * How servers repeat what they were sent, in refusals that are about something else, some without any mark of where the
 * client's text begins or ends: a sentence, or what stands around it too. TEXT is what a client wrote, SPACED and ENCODED
 * the same as an address spells it, QUOTED as JSON does.
 */
const refusals = recordsIn('echoes.jsonl', (line): Refusal => {
  const record: string | Refusal = JSON.parse(line)
  return typeof record === 'string' ? stating(record) : record
})

// The story: a client's image lay at `…/context_length_exceeded.png`, and a server that could not load it said so. That
// was taken for an overflow: the image was dropped, and after the second time every conversation of that credential and
// model was folded to a window of 1,650 tokens, which had stood in the address, too.
test('a refusal that repeats what a client wrote does not say what that says', () => {
  const knowledge = { knownWindowTokens: null, expectedPromptTokens: 9050 }
  const failures = refusals.flatMap((refusal) =>
    Object.entries(clientTexts).flatMap(([name, text]) =>
      [asAnswer(refusal, text), inStream(refusal, text)].flatMap((answer) => {
        const { class: answerClass, remedy, afterOutput: _, ...sizes } = classifyAnswer(answer, knowledge)
        const isSilent = Object.values(sizes).every((size) => size === null) && remedy === 'none'
        const isRight = isSilent && ['other', 'denied', 'order'].includes(answerClass)
        return isRight ? [] : [`${JSON.stringify(refusal.body)} with ${name}: ${answerClass}, ${remedy}`]
      }),
    ),
  )
  expect(failures).toEqual([])
})

type Refusal = { readonly status: number; readonly body: unknown }

function stating(message: string): Refusal {
  const error = { type: 'invalid_request_error', param: null, code: null, message }
  return { status: 400, body: { error } }
}

function filled(value: unknown, text: string): unknown {
  if (typeof value === 'string') {
    const spelt = { TEXT: text, SPACED: text.replaceAll(' ', '%20'), ENCODED: encodeURIComponent(text) }
    const all = new Map(Object.entries({ ...spelt, QUOTED: JSON.stringify(text) }))
    return value.replaceAll(/TEXT|SPACED|ENCODED|QUOTED/g, (name) => all.get(name) ?? name)
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, text)]))
}

function asAnswer({ status, body }: Refusal, text: string): WholeAnswer {
  const said = filled(body, text)
  return typeof said === 'string'
    ? { status, contentType: 'text/html', body: said }
    : { status, contentType: 'application/json', body: JSON.stringify(said) }
}

/** As an event of a stream that had begun. */
function inStream({ body }: Refusal, text: string): WholeAnswer {
  const said = filled(body, text)
  const event = typeof said === 'string' ? { error: said } : said
  return { status: 200, contentType: 'text/event-stream', body: `data: ${JSON.stringify(event)}\n\n` }
}
