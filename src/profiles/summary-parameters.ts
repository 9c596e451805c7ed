import { z } from 'zod'
import { dialects } from '../dialects/dialects.ts'

/** Fields of a summary call that are not the operator's, in any dialect. */
const ownParameters: ReadonlySet<string> = new Set(
  dialects.flatMap(({ summaries }) => [...summaries.ownFields]),
)

const phrase = `the name of a request parameter other than ${[...ownParameters].join(', ')}`

/** A key of `summary.parameters`. */
export const summaryParameter = z
  .string()
  .min(1, { error: phrase })
  .refine((name) => !ownParameters.has(name), { error: phrase })
