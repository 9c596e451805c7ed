import { expect, test } from 'vitest'
import type { WholeAnswer } from '../../src/overflow/classify.ts'
import { classifyAnswer } from '../support/chat-completions.ts'

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
 * How servers repeat what they were sent, in refusals that are about something else: TEXT is what a client wrote, SPACED
 * and ENCODED the same as an address spells it, QUOTED as JSON does.
 */
const messages: readonly string[] = [
  'Error while downloading https://files.test/SPACED.png.',
  'Failed to fetch image from https://files.test/TEXT.png',
  'Timeout while downloading http://a.test/?q=ENCODED',
  'https://files.test/TEXT',
  'Could not decode data:image/png;base64,TEXT',
  'The file TEXT.pdf could not be opened',
  'cannot open /tmp/uploads/TEXT.wav',
  'Invalid role: TEXT',
  'Role TEXT is not one of system, user, assistant, tool',
  'unexpected role "TEXT" in message 3',
  'No tool call found for tool_call_id TEXT.',
  "tool_call_id 'TEXT' not found in 'tool_calls' of previous message",
  'Unknown tool: TEXT',
  'TEXT is not a valid function name',
  'Failed to parse tool arguments: {"note": QUOTED}',
  'Unrecognized request argument supplied: TEXT',
  "1 validation error for ChatRequest\nmessages.0.role\n  Input should be 'user' [type=literal_error, input_value='TEXT', input_type=str]",
  'The stop token is odd. (parameter=stop, value=TEXT)',
  'Upstream said: <html><body><pre>TEXT</pre></body></html>',
  'I do not understand "TEXT" here',
  'I do not understand \\"TEXT\\" here',
  "I do not understand 'TEXT' here",
  'I do not understand \u201cTEXT\u201d here',
  'Ich verstehe \u201eTEXT\u201c nicht',
  'Je ne comprends pas \u00ab TEXT \u00bb',
  '\u300cTEXT\u300d\u304c\u5206\u304b\u308a\u307e\u305b\u3093',
  'I do not understand `TEXT` here',
  'I do not understand ```TEXT``` here',
  'I do not understand "TEXT',
  'I do not understand &quot;TEXT&quot; here',
  'No endpoints found for TEXT.',
  'Unexpected value(s) TEXT for the anthropic-beta header',
  'Unsupported content type TEXT',
  'Expected an object, received: TEXT',
  'Expected string, got TEXT',
  'Bad request: {"model":"m","messages":[{"role":"user","content":QUOTED}]}',
  "Error code: 400 - {'messages': [{'role': 'user', 'content': 'TEXT'}], 'error': {'message': 'TEXT'}}",
  // Without any mark of where the client's text begins or ends.
  'Invalid URL (GET /v1/TEXT)',
  'Could not process image TEXT',
  'tool TEXT is not defined',
  'Unable to parse TEXT',
  'Unexpected key TEXT',
  'Missing required parameter: TEXT',
  'messages[2].role: TEXT is invalid',
  "'TEXT' is not of type 'string'",
  'Unsupported parameter TEXT',
  'TEXT: unsupported file type',
  'Image TEXT too large',
  'Tool call with id TEXT has no result',
  'X-Title header value TEXT rejected',
  'Error parsing TEXT',
  'I received TEXT',
  'invalid content: TEXT',
  'Bad value TEXT for field role',
  'model_name=TEXT: no such model',
  'deployment TEXT is missing',
  'route TEXT does not exist',
  "The role 'TEXT' is unknown",
  'Filename TEXT rejected',
  '<p>TEXT</p>',
  '&lt;p&gt;TEXT',
  'Invalid value TEXT',
  'Failed to load image from path TEXT',
  'Cannot read image /tmp/TEXT.png',
  'tool_use id TEXT has no matching tool_result',
  'Template error: unknown role TEXT',
  'Jinja: Unexpected message role: TEXT',
  'There is no tool named TEXT',
  'function TEXT has no description',
  'No such file or directory: TEXT',
  'HTTP 404 while fetching TEXT',
  'Model TEXT is not served here',
  'Unknown model TEXT',
  'The model: TEXT is not available',
  'Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `TEXT`, expected one of `system`, `user` at line 1 column 40',
  "Invalid type for 'messages[0].content': TEXT",
  'anthropic-beta: Unexpected value(s) `TEXT` for the `anthropic-beta` header',
  'Unsupported MIME type: TEXT',
  "[{'type': 'literal_error', 'loc': ('body', 'messages', 0, 'role'), 'msg': \"Input should be 'user'\", 'input': 'TEXT'}]",
  'data URL TEXT is malformed',
  'Could not resolve host TEXT',
  'Response format TEXT is unsupported',
  'Tool choice TEXT was specified but no such tool exists',
  'Conversation with id TEXT not found',
  'previous response TEXT not found',
  'language TEXT not supported',
  'Provider returned error: Invalid image: TEXT',
  'Unable to access file at TEXT',
  "Expected 'role' to be one of user, assistant; saw TEXT",
]

const page =
  '<!doctype html><html><head><title>400 Bad Request</title></head><body><h1>Bad Request</h1><p>TEXT</p></body></html>'

const ctx = { error: 'TEXT', message: 'TEXT' }

/** The same with what stands around a message, or in another shape. */
const refusals: readonly Refusal[] = [
  ...messages.map((message) => stating({ message })),
  stating({
    message: 'Error while downloading https://files.test/SPACED.png.',
    code: 'invalid_image_url',
    param: 'url',
  }),
  stating({ message: 'Unsupported file: TEXT.pdf', code: 'unsupported_file' }),
  stating({
    message: "Invalid value: 'TEXT'. Supported values are: 'system', 'assistant', 'user', 'tool'.",
    code: 'invalid_value',
    param: 'messages[1].role',
  }),
  stating({
    message: 'messages[3].content: TEXT',
    code: 'string_above_max_length',
    param: 'messages[3].content',
  }),
  stating({ message: "Unknown parameter: 'TEXT'.", code: 'unknown_parameter', param: 'x' }),
  stating({ message: 'The model `TEXT` does not exist', code: 'model_not_found' }, 404),
  stating({ message: 'The model TEXT does not exist' }, 404),
  stating({ message: 'Header x-title is too long or odd: TEXT' }, 431),
  { status: 404, body: { error: "model 'TEXT' not found" } },
  stating({ message: 'messages.3.content.0.text: unexpected value TEXT' }),
  {
    status: 400,
    body: { error: { message: 'Bad request', input: 'TEXT', request: { code: 'TEXT', message: 'TEXT' } } },
  },
  {
    status: 422,
    body: {
      detail: [
        {
          loc: ['body', 'messages', 0],
          msg: "Input should be 'user'",
          input: 'TEXT',
          ctx,
          url: 'https://e.dev/TEXT',
        },
      ],
    },
  },
  {
    status: 422,
    body: {
      detail: [{ loc: ['body', 'messages', 0, 'role'], msg: 'Value error, got TEXT', type: 'value_error' }],
    },
  },
  { status: 400, body: page },
  { status: 400, body: '<html><head><title>TEXT</title></head><body><h1>TEXT</h1></body></html>' },
]

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

function stating(error: object, status = 400): Refusal {
  return { status, body: { error: { type: 'invalid_request_error', param: null, code: null, ...error } } }
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
