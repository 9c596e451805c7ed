import { z } from 'zod'

/** Fields of a summary call that no operator may set: with another value it would be no summary, or could not be read. */
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
