import { textOf, isObject } from '../strict-upstream/wire-message.ts'
import type { ResponsesRejection } from './judgement.ts'
import { itemsOf, typeOf, type WireItem } from './wire-item.ts'

export const bodyRejection: ResponsesRejection = {
  reason: 'body',
  status: 400,
  message:
    'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly. The API expects a JSON payload, but what was sent was not valid JSON.)',
  param: null,
  code: null,
}

/** What is wrong with the fields around the items; null if nothing is. */
export function fieldRejection(body: WireItem): ResponsesRejection | null {
  const { model, input, tools, stream_options: streamOptions } = body
  if (model === undefined) return missing('model')
  // What a client of chat completions sends.
  for (const [old, now] of Object.entries(moved)) {
    if (body[old] === undefined) continue
    const message = `Unsupported parameter: '${old}'. In the Responses API, this parameter has moved to '${now}'.`
    return badField(message, old, 'unsupported_parameter')
  }
  if (isObject(streamOptions) && streamOptions['include_usage'] !== undefined) {
    const unknown = 'stream_options.include_usage'
    return badField(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter')
  }
  if (input === undefined && body['previous_response_id'] == null) return missing('input')
  if (input !== undefined && typeof input !== 'string' && !Array.isArray(input)) {
    const message = "Invalid type for 'input': expected one of an array of objects or a string."
    return badField(message, 'input', 'invalid_type')
  }
  if (Array.isArray(tools)) {
    const unnamed = tools.findIndex((tool) => isObject(tool) && isUnnamed(tool))
    if (unnamed !== -1) return missing(`tools[${unnamed}].name`)
  }
  const limit = body['max_output_tokens']
  if (typeof limit === 'number' && limit < OUTPUT_TOKENS_MIN) {
    const low = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${OUTPUT_TOKENS_MIN}, but got ${limit} instead.`
    return badField(low, 'max_output_tokens', 'integer_below_min_value')
  }
  const cuts = body['context_management'] !== undefined || body['truncation'] === 'auto'
  if (cuts && itemsOf(input).some((item) => isObject(item) && typeOf(item) === 'configuration_update')) {
    const message = "'configuration_update' items cannot be used with automatic compaction or truncation."
    return badField(message, 'input', 'invalid_value')
  }
  return null
}

// --- internal ---

const OUTPUT_TOKENS_MIN = 16

const moved = {
  messages: 'input',
  response_format: 'text.format',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
}

/** A function whose name stands in an object of its own, as chat completions have it, or nowhere. */
function isUnnamed(tool: WireItem): boolean {
  return ['function', 'custom', 'namespace'].includes(textOf(tool['type'])) && textOf(tool['name']) === ''
}

function missing(param: string): ResponsesRejection {
  return badField(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
}

function badField(message: string, param: string, code: string): ResponsesRejection {
  return { reason: 'parameter', status: 400, message, param, code }
}
