import type { WholeAnswer } from '../../src/overflow/classify.ts'

const json = (body: unknown, status = 400): WholeAnswer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
})

const stream = (body: string): WholeAnswer => ({ status: 200, contentType: 'text/event-stream', body })

/** The ways in which servers and gateways wrap one and the same sentence. */
export const shapes: Readonly<Record<string, (text: string) => WholeAnswer>> = {
  'an error object': (text) => json({ error: { message: text, type: 'invalid_request_error', code: null } }),
  'Anthropic’s envelope': (text) =>
    json({ type: 'error', error: { type: 'invalid_request_error', message: text }, request_id: 'req_011CS' }),
  'a flat object': (text) => json({ object: 'error', message: text, type: 'BadRequestError', code: 400 }),
  'an error string': (text) => json({ error: text }),
  'an array': (text) => json([{ error: { code: 400, message: text, status: 'INVALID_ARGUMENT' } }]),
  'a list of errors': (text) => json({ errors: [{ message: text, code: 7000 }], success: false, result: {} }),
  'status 422 and a detail': (text) => json({ detail: JSON.stringify({ error: { message: text } }) }, 422),
  'a message that is JSON': (text) =>
    json({ error_code: 'BAD_REQUEST', message: JSON.stringify({ message: text }) }),
  'a body behind who was asked for which model': (text) =>
    json({
      error: {
        message: `Error from provider(p,some/m-1: 400): ${JSON.stringify({ error: { message: text } })}`,
      },
    }),
  'raw metadata': (text) =>
    json({
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: JSON.stringify({ error: { message: text } }), provider_name: 'P' },
      },
    }),
  'a python bytes literal': (text) => {
    const inner = JSON.stringify({ error: { code: 400, message: text } }, null, 1)
    const literal = inner.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')
    return json({ error: { message: `wrapped.BadRequestError: PException - b'${literal}\\n'`, code: '400' } })
  },
  'plain text': (text) => ({ status: 400, contentType: 'text/plain', body: `Request rejected: ${text}` }),
  'plain JSON with status 200': (text) => json({ error: { message: text, code: 400 } }, 200),
  'an event with an error': (text) =>
    stream(`: PROCESSING\n\ndata: ${JSON.stringify({ choices: [], error: { message: text } })}\n\n`),
  'an error event': (text) => stream(`event: error\r\ndata: ${JSON.stringify({ message: text })}\r\n\r\n`),
  'an error event of Anthropic’s': (text) =>
    stream(
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: text } })}\n\n`,
    ),
  'an error field': (text) => stream(`error: ${JSON.stringify({ code: 400, message: text })}\n\n`),
  'an error message within an event': (text) =>
    stream(
      `data:${JSON.stringify({ error_type: 'x', error_message: JSON.stringify({ error: { message: text } }) })}`,
    ),
}
