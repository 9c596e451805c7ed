import type { AnswerClass } from './classification.ts'
import type { ErrorFacts } from './error-text.ts'

/** Codes that mean overflow whatever the text and the status say: values of code and type fields, in lower case. */
export const overflowCodes: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
  'contextwindowexceedederror',
  // What relays and gateways make of it.
  'context_too_large',
  'context_window_exceeded',
  'context_limit_exceeded',
  'context_size_exceeded',
  'prompt_too_long',
  'input_too_long',
  // Z.ai's.
  '1261',
])

/** Codes, and names of exceptions, that are never an overflow's. */
const vetoCodes: Readonly<Record<string, AnswerClass>> = {
  rate_limit_exceeded: 'rate',
  rate_limit_error: 'rate',
  ratelimiterror: 'rate',
  insufficient_quota: 'rate',
  throttlingexception: 'rate',
  resource_exhausted: 'rate',
  too_many_requests: 'rate',
  content_filter: 'denied',
  content_policy_violation: 'denied',
  contentpolicyviolationerror: 'denied',
  data_inspection_failed: 'denied',
  authentication_error: 'denied',
  authenticationerror: 'denied',
  permission_error: 'denied',
  permissiondeniederror: 'denied',
  invalid_api_key: 'denied',
}

export function vetoedByCode({ codes, exceptions }: ErrorFacts): AnswerClass | null {
  for (const code of [...codes, ...exceptions]) {
    const vetoClass = Object.hasOwn(vetoCodes, code) ? vetoCodes[code] : undefined
    if (vetoClass !== undefined) return vetoClass
  }
  return null
}

/**
 * Whether code, type or param names another matter than length, e.g. `invalid_image_url`, `model_not_found`,
 * `messages[3].content`: then the words decide nothing. Codes that could mean anything, e.g. `invalid_request_error`,
 * `BadRequestError`, `400`, name none, and prose in a code field is no code.
 */
export function namesOtherMatter({ codes, exceptions, params, isAboutField }: ErrorFacts): boolean {
  if (isAboutField) return true
  for (const code of [...codes, ...exceptions])
    if (/^[\w.:-]{1,64}$/.test(code) && matter.test(code)) return true
  for (const param of params) if (param !== '' && !lengthParam.test(param)) return true
  return false
}

// --- internal ---

const matter = new RegExp(
  [
    'image|url|audio|video|media(?!n)|mime|attachment|(?:^|_)files?(?:_|$)|filenotfound|download|fetch',
    'not_?found|no_?such|not_?exist|conflict|duplicate|deprecat|already_|unsupported|not_supported|unrecogni[sz]ed',
    'unknown_(?!error)|missing|empty|extra_|forbidden|denied|auth(?!or)|permission|api_?key|billing|payment|credit',
    'balance|quota|rate_?limit|throttl|time_?d?_?out|deadline|overloaded|policy|safety|moderation|region|country',
    'function|(?:^|_)tools?(?:_|$)|schema|json|(?:^|_)role|header|method|encoding|unicode|enum|pattern|literal|parsing',
    '(?:string|array|integer|decimal|object|number|list|dict|bool|float|int|str)_(?:above|below|too|type|invalid|length)',
    'invalid_(?:model|value|type|string|array|integer|number|object|base64|id|format|enum|role|name|content|language)',
    '(?:^|_)(?:stop|temperature|top_p|logprobs|response_format)(?:_|$)',
  ].join('|'),
)

/** A param that an overflow may be blamed on. */
const lengthParam =
  /^(?:(?:body|request)\.?)?(?:messages|inputs?|prompts?|contents?|text|query|context(?:_\w+)?|input_\w+|prompt_\w+|(?:max_|num_|n_)?\w{0,20}tokens|max_\w+|n_ctx|num_ctx|body|request|null|none)?$/
