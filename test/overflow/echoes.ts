import type { WholeAnswer } from '../../src/overflow/classify.ts'

/** What a client may have written, in the words of overflows. */
export const clientTexts: Readonly<Record<string, string>> = {
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

type Refusal = { readonly status: number; readonly body: unknown }

const openAi =
  (
    message: (text: string) => string,
    code: string | null = null,
    param: string | null = null,
    status = 400,
  ) =>
  (text: string): Refusal => ({
    status,
    body: { error: { message: message(text), type: 'invalid_request_error', param, code } },
  })

const spaced = (text: string) => text.replaceAll(' ', '%20')

/** How servers repeat what they were sent, in refusals that are about something else. */
export const echoes: Readonly<Record<string, (text: string) => Refusal>> = {
  'an address, with its code': openAi(
    (text) => `Error while downloading https://files.test/${spaced(text)}.png.`,
    'invalid_image_url',
    'url',
  ),
  'an address, without a code': openAi(
    (text) => `Error while downloading https://files.test/${spaced(text)}.png.`,
  ),
  'an address with spaces': openAi((text) => `Failed to fetch image from https://files.test/${text}.png`),
  'an address in a query': openAi(
    (text) => `Timeout while downloading http://a.test/?q=${encodeURIComponent(text)}`,
  ),
  'an address and nothing of what is wrong': openAi((text) => `https://files.test/${text}`),
  'a data address': openAi((text) => `Could not decode data:image/png;base64,${text}`),
  'a file name': openAi((text) => `Unsupported file: ${text}.pdf`, 'unsupported_file'),
  'a file name, without a code': openAi((text) => `The file ${text}.pdf could not be opened`),
  'a path': openAi((text) => `cannot open /tmp/uploads/${text}.wav`),
  'a role': openAi((text) => `Invalid role: ${text}`),
  'a role in a sentence': openAi((text) => `Role ${text} is not one of system, user, assistant, tool`),
  'a role as an enumeration': openAi(
    (text) => `Invalid value: '${text}'. Supported values are: 'system', 'assistant', 'user', 'tool'.`,
    'invalid_value',
    'messages[1].role',
  ),
  'a role as a server prints it': openAi((text) => `unexpected role "${text}" in message 3`),
  'a tool id': openAi((text) => `No tool call found for tool_call_id ${text}.`),
  'a tool id in quotes': openAi(
    (text) => `tool_call_id '${text}' not found in 'tool_calls' of previous message`,
  ),
  'a tool’s name': openAi((text) => `Unknown tool: ${text}`),
  'a tool’s name at the beginning': openAi((text) => `${text} is not a valid function name`),
  'a tool’s arguments': openAi((text) => `Failed to parse tool arguments: {"note": ${JSON.stringify(text)}}`),
  'a field’s path': openAi(
    (text) => `messages[3].content: ${text}`,
    'string_above_max_length',
    'messages[3].content',
  ),
  'a field’s path, Anthropic’s way': (text) => ({
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: `messages.3.content.0.text: unexpected value ${text}`,
      },
    },
  }),
  'a field of that name': openAi((text) => `Unknown parameter: '${text}'.`, 'unknown_parameter', 'x'),
  'a field of that name, without a code': openAi((text) => `Unrecognized request argument supplied: ${text}`),
  'pydantic’s input': (text) => ({
    status: 422,
    body: {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'messages', 0, 'role'],
          msg: "Input should be 'user' or 'assistant'",
          input: text,
          ctx: { error: text, message: text },
          url: `https://errors.pydantic.dev/2/v/${text}`,
        },
      ],
    },
  }),
  'pydantic’s message': (text) => ({
    status: 422,
    body: {
      detail: [
        { loc: ['body', 'messages', 0, 'role'], msg: `Value error, got ${text}`, type: 'value_error' },
      ],
    },
  }),
  'pydantic in one text': openAi(
    (text) =>
      `1 validation error for ChatRequest\nmessages.0.role\n  Input should be 'user' [type=literal_error, input_value='${text}', input_type=str]`,
  ),
  'vLLM’s parameter and value': openAi((text) => `The stop token is odd. (parameter=stop, value=${text})`),
  'a page': (text) => ({
    status: 400,
    body: `<!doctype html><html><head><title>400 Bad Request</title></head><body><h1>Bad Request</h1><p>${text}</p></body></html>`,
  }),
  'a page with the text as its title': (text) => ({
    status: 400,
    body: `<html><head><title>${text}</title></head><body><h1>${text}</h1></body></html>`,
  }),
  'a page in a message': openAi((text) => `Upstream said: <html><body><pre>${text}</pre></body></html>`),
  'straight quotes': openAi((text) => `I do not understand "${text}" here`),
  'straight quotes, escaped once more': openAi((text) => `I do not understand \\"${text}\\" here`),
  'single quotes': openAi((text) => `I do not understand '${text}' here`),
  'typographic quotes': openAi((text) => `I do not understand \u201c${text}\u201d here`),
  'low quotes': openAi((text) => `Ich verstehe \u201e${text}\u201c nicht`),
  guillemets: openAi((text) => `Je ne comprends pas \u00ab ${text} \u00bb`),
  'corner brackets': openAi((text) => `\u300c${text}\u300d\u304c\u5206\u304b\u308a\u307e\u305b\u3093`),
  backticks: openAi((text) => `I do not understand \`${text}\` here`),
  'three backticks': openAi((text) => `I do not understand \`\`\`${text}\`\`\` here`),
  'a quotation that is cut off': openAi((text) => `I do not understand "${text}`),
  'quotes spelt out': openAi((text) => `I do not understand &quot;${text}&quot; here`),
  'a model': (text) => ({
    status: 404,
    body: { error: { message: `The model \`${text}\` does not exist`, code: 'model_not_found' } },
  }),
  'a model, without a code': openAi((text) => `The model ${text} does not exist`, null, null, 404),
  'a model in quotes': (text) => ({ status: 404, body: { error: `model '${text}' not found` } }),
  'a model without a provider': openAi((text) => `No endpoints found for ${text}.`),
  'a header': openAi((text) => `Header x-title is too long or odd: ${text}`, null, null, 431),
  'a header, with status 400': openAi((text) => `Unexpected value(s) ${text} for the anthropic-beta header`),
  'a content type': openAi((text) => `Unsupported content type ${text}`),
  'input that was received': openAi((text) => `Expected an object, received: ${text}`),
  'input that somebody got': openAi((text) => `Expected string, got ${text}`),
  'the whole request': openAi(
    (text) => `Bad request: ${JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] })}`,
  ),
  'the whole request, as Python prints it': openAi(
    (text) =>
      `Error code: 400 - {'messages': [{'role': 'user', 'content': '${text}'}], 'error': {'message': '${text}'}}`,
  ),
  'a field beside the error': (text) => ({
    status: 400,
    body: { error: { message: 'Bad request', input: text, request: { code: text, message: text } } },
  }),
}

/** The same without any mark of where the client's text begins or ends. */
export const unmarked: readonly string[] = [
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

/** As a server answers, and as an event of a stream that had begun. */
export const ways: Readonly<Record<string, (refusal: Refusal) => WholeAnswer>> = {
  plain: ({ status, body }) => ({
    status,
    contentType: typeof body === 'string' ? 'text/html' : 'application/json',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }),
  'an event of a stream': ({ body }) => ({
    status: 200,
    contentType: 'text/event-stream',
    body: `data: ${JSON.stringify(typeof body === 'string' ? { error: body } : body)}\n\n`,
  }),
}
