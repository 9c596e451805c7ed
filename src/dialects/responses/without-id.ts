import { scanObject } from '../../conversation/json-scan.ts'

/** An item, given as JSON, without the id by which the server demands the reasoning before it. */
export function withoutId(item: string): string {
  const fields = scanObject(item, 0)?.entries ?? []
  const at = fields.findLastIndex(({ key }) => item.slice(key.start, key.end) === '"id"')
  const [before, field, after] = [fields[at - 1], fields[at], fields[at + 1]]
  if (field === undefined) return item
  // One of the commas beside it goes with it.
  const from = before?.value.end ?? field.key.start
  const until = before === undefined ? (after?.key.start ?? field.value.end) : field.value.end
  return item.slice(0, from) + item.slice(until)
}
