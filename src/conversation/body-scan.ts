import { braceOpen, bracketOpen } from './json-characters.ts'
import { JsonScanner, type ScanFault } from './json-scanner.ts'
import { readKey } from './json-value.ts'
import type { Source, Span, Steps } from './source.ts'

/** What a body may hold to be read; each is a setting (`limits` in foldgate.yaml). */
export type BodyLimits = {
  /** How many objects and arrays may stand in each other. */
  readonly depthMax: number
  /** Elements of arrays and members of objects in all. */
  readonly elementsMax: number
  /** Members of the body itself. */
  readonly keysMax: number
  /** Entries of the history. */
  readonly messagesMax: number
  /** Elements and members within one entry of the history. */
  readonly partsMax: number
}

/** An entry of the history, or a member of the body, delimited: nothing of it is read. */
export type EntrySpan = Span & {
  /** Elements and members in it. */
  readonly elements: number
  /** Its strings of 4,096 bytes or more, with their quotes, ascending; left out where there are none. */
  readonly longStrings?: readonly Span[]
}

/** A member of a body: its key, and its value with what is in it. */
export type BodyMember = { readonly key: Span; readonly value: EntrySpan }

/** A body that is known to be JSON. */
export type BodyScan = {
  readonly entries: readonly BodyMember[]
  /** The entries of its history but for those that were known; null where it has no such array. */
  readonly history: readonly EntrySpan[] | null
}

/** Why a body is not read. */
export type BodyFault = ScanFault | 'too-many-keys' | 'too-many-messages' | 'too-many-parts'

/** A beginning of the history that was scanned before: from its bracket to the end of the last known entry. */
export type KnownHistory = Span & { readonly messages: number; readonly elements: number }

/**
 * Delimits the members of a body and the entries of its history, the array under `historyKey`, and makes sure that all of
 * it is JSON within the limits. What is `known` is passed over. In steps; nothing is built but the spans.
 */
export function* scanBody(
  source: Source,
  historyKey: string,
  known: KnownHistory | null,
  limits: BodyLimits,
): Steps<BodyScan | BodyFault> {
  const found = new BodyVisitor(source, historyKey, known, limits)
  const scanner = new JsonScanner(source.bytes, found, limits)
  scanner.elements = known?.elements ?? 0
  found.scanner = scanner
  for (;;) {
    scanner.scan(STEP_BYTES)
    if (scanner.isOver) break
    yield
  }
  const fault = found.fault ?? scanner.fault
  if (fault !== null) return fault
  return found.isObject ? { entries: found.entries, history: found.history } : 'no-json'
}

/** Whether a member may be parsed in one go: a large one would keep others waiting, and take many times its bytes. */
export function isParsedAtOnce({ start, end, elements }: EntrySpan): boolean {
  return end - start <= PARSED_BYTES_MAX && elements <= PARSED_ELEMENTS_MAX
}

// --- internal ---

/** More than any list of tools that was seen, in bytes. */
const PARSED_BYTES_MAX = 1024 * 1024

const PARSED_ELEMENTS_MAX = 20_000

/** How much is scanned between two pauses, in bytes: a fraction of a millisecond. */
const STEP_BYTES = 262_144

/** A key that means `historyKey` has at most so many bytes for each of its characters: an escape. */
const ESCAPE_BYTES = 6

class BodyVisitor {
  readonly entries: BodyMember[] = []
  history: EntrySpan[] | null = null
  isObject = false
  fault: BodyFault | null = null
  scanner: JsonScanner | null = null
  readonly #source: Source
  readonly #historyKey: string
  readonly #known: KnownHistory | null
  readonly #limits: BodyLimits
  #key: Span = { start: 0, end: 0 }
  #valueStart = 0
  #elementsBeforeValue = 0
  #isInHistory = false
  #entryStart = 0
  #elementsBefore = 0
  #longStrings: Span[] = []

  constructor(source: Source, historyKey: string, known: KnownHistory | null, limits: BodyLimits) {
    this.#source = source
    this.#historyKey = historyKey
    this.#known = known
    this.#limits = limits
  }

  key(key: Span): void {
    this.#key = key
  }

  longString(string: Span): void {
    if (this.#isInHistory) this.#longStrings.push(string)
  }

  begin(depth: number, start: number): number {
    const first = this.#source.bytes[start]
    if (depth === 0) this.isObject = first === braceOpen
    else if (depth === 1 && this.isObject) return this.#beginMember(start, first)
    else if (depth === 2 && this.#isInHistory) {
      this.#entryStart = start
      this.#elementsBefore = this.scanner?.elements ?? 0
    }
    return start
  }

  end(depth: number, end: number): boolean {
    if (depth === 1 && this.isObject) this.#endMember(end)
    else if (depth === 2 && this.#isInHistory) this.#endEntry(end)
    return this.fault === null
  }

  #beginMember(start: number, first: number | undefined): number {
    this.#valueStart = start
    this.#elementsBeforeValue = this.scanner?.elements ?? 0
    this.#isInHistory = first === bracketOpen && this.#isHistory()
    if (!this.#isInHistory) return start
    this.history = []
    return start === this.#known?.start ? this.#known.end : start
  }

  #endMember(end: number): void {
    const elements = (this.scanner?.elements ?? 0) - this.#elementsBeforeValue
    this.entries.push({ key: this.#key, value: { start: this.#valueStart, end, elements } })
    this.#isInHistory = false
    if (this.entries.length > this.#limits.keysMax) this.fault = 'too-many-keys'
  }

  #endEntry(end: number): void {
    const elements = (this.scanner?.elements ?? 0) - this.#elementsBefore
    const entry = { start: this.#entryStart, end, elements }
    this.history?.push(this.#longStrings.length === 0 ? entry : { ...entry, longStrings: this.#longStrings })
    if (this.#longStrings.length > 0) this.#longStrings = []
    const messages = (this.#known?.messages ?? 0) + (this.history?.length ?? 0)
    if (messages > this.#limits.messagesMax) this.fault = 'too-many-messages'
    else if (elements > this.#limits.partsMax) this.fault = 'too-many-parts'
  }

  #isHistory(): boolean {
    const { start, end } = this.#key
    if (end - start > ESCAPE_BYTES * this.#historyKey.length + 2) return false
    return readKey(this.#source, this.#key) === this.#historyKey
  }
}
