import type { Profile } from '../profiles/schema.ts'
import type { Source, Span } from '../json/source.ts'
import type { BodyEdit } from '../formats/contract.ts'
import type { Form, ReadRequest } from './request.ts'
import { withEdits } from './send/outgoing-body.ts'

// Claude Code tells Anthropic's billing in a line at the beginning of its prompt, which is another one at each request. Other
// servers put it into the prompt, and nothing behind it is read from their caches.

/** Whether a request's line is taken out. */
export function blanksBilling({ messages, observe }: Profile, isAnthropic: boolean): boolean {
  if (observe || messages.blank_billing === 'never') return false
  return messages.blank_billing === 'always' || !isAnthropic
}

/** The form without the line, if it has one that is taken out. */
export function withoutBilling(
  form: Form,
  { blanksBilling: isWanted }: Pick<ReadRequest, 'blanksBilling'>,
): Form {
  const { billingLine } = form.chat.body
  return !isWanted || billingLine === null ? form : withEdits(form, billingLine)
}

/** A value of a body as the pieces beside the line; the value itself where the line is elsewhere. */
export function spansAround(value: Span | null, line: BodyEdit | null): readonly (Span | null)[] {
  if (value === null || line === null) return [value]
  return [
    { start: value.start, end: line.at.start },
    { start: line.at.end, end: value.end },
  ]
}

/** The text of a value of a body without the line, if that stands in it. */
export function textWithout(line: BodyEdit | null, source: Source, { start, end }: Span): string {
  if (line === null || line.at.start < start || line.at.end > end) return source.text(start, end)
  return `${source.text(start, line.at.start)}${line.text}${source.text(line.at.end, end)}`
}
