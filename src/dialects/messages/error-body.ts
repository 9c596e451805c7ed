import { httpStatusOf, type ErrorCode, type FoldgateError } from '../../errors.ts'

/** The body of an error answer, in the shape that Anthropic's clients read, with Foldgate's own code beside the type. */
export function messagesErrorBody({ code, message, param }: FoldgateError): string {
  const type = errorTypeOf[httpStatusOf[code]]
  return JSON.stringify({ type: 'error', error: { type, message, param, code }, request_id: null })
}

// --- internal ---

/** What Anthropic's API calls the errors of a status, or of the nearest that it answers with. */
const errorTypeOf: Readonly<Record<(typeof httpStatusOf)[ErrorCode], string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  426: 'invalid_request_error',
  431: 'request_too_large',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}
