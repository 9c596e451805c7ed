import { collectErrorFacts } from '../overflow/error-text.ts'
import type { Rejection } from './parameter-memory.ts'

/** What of a request its refusal names as being at fault; null where that cannot be told. Neither model nor messages can be done without. */
export function rejectionIn(body: string, sent: Readonly<Record<string, unknown>>): Rejection | null {
  const { text, params } = collectErrorFacts(body)
  const optional = Object.keys(sent).filter((name) => name !== 'model' && name !== 'messages')
  const located = locations(body)
  const named =
    optional.find((name) => params.has(name.toLowerCase())) ??
    optional.find((name) => located.has(name)) ??
    firstNamed(text, optional)
  if (named !== null) return { kind: 'field', name: named }
  return namesSystemRole.test(text) && hasSystem(sent) ? { kind: 'system-role' } : null
}

// --- internal ---

const namesSystemRole =
  /\bsystem['"`]? (?:role|messages?|prompts?|instructions?)\b|\broles?\b.{0,40}\bsystem\b|developer instruction|only .{0,30}user and (?:assistant|model) roles|roles must alternate/i

function hasSystem(sent: Readonly<Record<string, unknown>>): boolean {
  const { messages } = sent
  return Array.isArray(messages) && messages.length > 1
}

/** The field that stands first in the text: what is to be used instead stands behind it. */
function firstNamed(text: string, names: readonly string[]): string | null {
  let first: { readonly name: string; readonly at: number } | null = null
  for (const name of names) {
    const at = text.search(new RegExp(String.raw`(?<![\w-])${escaped(name)}(?![\w-])`, 'i'))
    if (at !== -1 && (first === null || at < first.at)) first = { name, at }
  }
  return first?.name ?? null
}

function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

/** Servers of pydantic name a field in the path to it: `"loc":["body","reasoning_effort"]`. */
function locations(body: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [, path = ''] of body
    .slice(0, LOOKED_AT_CHARS)
    .matchAll(/"loc"\s{0,4}:\s{0,4}\[([^\]]{0,400})\]/g))
    for (const [, name = ''] of path.matchAll(/"([^"]{1,100})"/g)) found.add(name)
  return found
}

const LOOKED_AT_CHARS = 65_536
