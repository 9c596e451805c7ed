import { z } from 'zod'
import { parseJsonText } from '../conversation/json-value.ts'
import { failureReasons } from './failure.ts'

const recordSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('written'), text: z.string(), tokens: z.int() }),
  z.object({ kind: z.literal('failed'), reason: z.enum(failureReasons) }),
])

/** What came of a summary: its text without tags, or why there is none. One that failed is not tried again. */
export type SummaryRecord = Readonly<z.output<typeof recordSchema>>

/** Null where the text is none, so that a damaged record costs a call. */
export function readSummaryRecord(text: string): SummaryRecord | null {
  return recordSchema.safeParse(parseJsonText(text)).data ?? null
}
