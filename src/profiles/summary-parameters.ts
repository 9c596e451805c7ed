import { z } from 'zod'

/** Fields of a summary call that are not the operator's: with another value it is no summary any more, or cannot be read. */
const ownParameters: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
])

const phrase = `the name of a request parameter other than ${[...ownParameters].join(', ')}`

/** A key of `summary.parameters`. */
export const summaryParameter = z
  .string()
  .min(1, { error: phrase })
  .refine((name) => !ownParameters.has(name), { error: phrase })
