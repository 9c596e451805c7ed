/**
 * Every error that Foldgate itself answers with. The upstream's own errors are not among them: they pass
 * through byte for byte. A code without a status does not compile.
 */
export const httpStatusOf = {
  path_not_allowed: 400,
  invalid_header: 400,
  malformed_request: 400,
  unknown_profile: 400,
  invalid_conversation_id: 400,
  invalid_parameter: 400,
  client_key_required: 401,
  admin_token_required: 401,
  origin_not_allowed: 403,
  host_not_allowed: 403,
  override_not_allowed: 403,
  endpoint_not_allowed: 403,
  model_not_allowed: 403,
  unread_not_allowed: 403,
  unknown_upstream: 404,
  unknown_path: 404,
  unknown_conversation: 404,
  unknown_model: 404,
  body_timeout: 408,
  headers_timeout: 408,
  body_too_large: 413,
  upgrade_not_supported: 426,
  headers_too_large: 431,
  internal_error: 500,
  upstream_unreachable: 502,
  upstream_broken: 502,
  overloaded: 503,
  draining: 503,
  store_failed: 503,
  upstream_timeout: 504,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof httpStatusOf

/** An error of Foldgate's own, with a message that names what was wrong, where, and what to do. */
export class FoldgateError extends Error {
  override readonly name = 'FoldgateError'
  readonly code: ErrorCode
  /** The header, parameter or setting that was wrong, if there is one. */
  readonly param: string | null

  constructor(code: ErrorCode, message: string, options: { param?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.param = options.param ?? null
  }
}

/** What is thrown, as an error that can be answered with: one that is none of Foldgate's own is a failure of Foldgate. */
export function answerable(error: unknown): FoldgateError {
  if (error instanceof FoldgateError) return error
  return new FoldgateError('internal_error', 'Foldgate failed to answer this request.', { cause: error })
}

/** Writes the body of an error answer. */
export type ErrorBody = (error: FoldgateError) => string

/** The body of an error answer, in the shape that OpenAI clients read. */
export function errorBody(error: FoldgateError): string {
  return JSON.stringify({
    error: { message: error.message, type: 'foldgate_error', param: error.param, code: error.code },
  })
}

/** The client left before its answer was complete: there is nobody to answer, and nothing has failed. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'

  constructor(options: { cause?: unknown } = {}) {
    super('The client closed the connection.', options)
  }
}

/** A rule of our own that does not hold: a bug. It is caught in one place, where the client's bytes are sent instead (P2). */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
