/** What stands at a control character: ECMA-48, section 5. */
export type Sequence = {
  /**
   * The control character; of an escape what follows it; of a control sequence the same without its parameters, such as
   * `[?h`. '' of what shows nothing: a string (a title, the address of a link, a picture), or an introducer of nothing.
   */
  readonly name: string
  readonly parameters: readonly number[]
  /** The index behind it. */
  readonly end: number
}

/** Reads the sequences of one text. All that it reads twice it reads at most twice: linear for any text. */
export function sequenceReader(text: string): (at: number) => Sequence {
  const stringEnd = stringEnds(text)
  return function sequenceAt(at) {
    const code = text.charCodeAt(at)
    if (code === 0x1b) return afterEscape(at + 1)
    if (code === 0x9b) return readCsi(text, at + 1)
    // The C1 controls are ESC and a letter in one character: ECMA-48, section 5.3.
    if (code >= 0x80) return named(String.fromCharCode(code - 0x40), at + 1)
    return { name: text.charAt(at), parameters: [], end: at + 1 }
  }

  function afterEscape(at: number): Sequence {
    if (text[at] === '[') return readCsi(text, at + 1)
    let index = at
    while (isBetween(text, index, ' ', '/')) index += 1
    if (!isBetween(text, index, '0', '~')) return nothingUpTo(at)
    return named(text.slice(at, index + 1), index + 1)
  }

  function named(name: string, end: number): Sequence {
    const kind = stringKinds[name]
    return kind === undefined ? { name, parameters: [], end } : nothingUpTo(stringEnd(kind, end) ?? end)
  }
}

/**
 * The length of the UTF-8 sequence that begins at `index` when each of its bytes was read as a character of
 * Latin-1; 0 where none does. In such a text U+0080 to U+009F are no controls: a quotation mark would open an
 * operating system command and take the rest of the line with it.
 */
export function mojibakeLength(text: string, index: number): number {
  const lead = text.charCodeAt(index)
  // RFC 3629, section 4: the lead says how many continuations follow.
  const length = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  for (let offset = 1; offset < length; offset += 1)
    if (!isContinuation(text.charCodeAt(index + offset))) return 0
  return length
}

/** Whether the character at `index` continues such a sequence. */
export function isWithinMojibake(text: string, index: number): boolean {
  for (let back = 1; back <= 3; back += 1) {
    if (isContinuation(text.charCodeAt(index - back))) continue
    return mojibakeLength(text, index - back) > back
  }
  return false
}

// --- internal ---

/** A sequence that a cut has broken off is at most this long: behind a longer one it was no sequence. */
const BROKEN_LENGTH_MAX = 64

/** As many as xterm.js reads; the rest is read over. */
const PARAMETERS_MAX = 32

/** Larger counts mean "as far as it goes". */
const PARAMETER_MAX = 999_999_999

function nothingUpTo(end: number): Sequence {
  return { name: '', parameters: [], end }
}

function isBetween(text: string, index: number, low: string, high: string): boolean {
  const code = text.charCodeAt(index)
  return code >= low.charCodeAt(0) && code <= high.charCodeAt(0)
}

/** Parameters, intermediates, final: ECMA-48, section 5.4. Private markers and intermediates are part of the name. */
function readCsi(text: string, start: number): Sequence {
  let index = start
  while (isBetween(text, index, '0', '?')) index += 1
  const intermediates = index
  while (isBetween(text, index, ' ', '/')) index += 1
  if (!isBetween(text, index, '@', '~'))
    return nothingUpTo(index - start <= BROKEN_LENGTH_MAX ? index : start)
  // Colours (SGR) are most of what terminals are sent: nobody asks which.
  if (text[index] === 'm') return nothingUpTo(index + 1)
  const marker = isBetween(text, start, '<', '?') ? (text[start] ?? '') : ''
  return {
    name: `[${marker}${text.slice(intermediates, index + 1)}`,
    parameters: readParameters(text, start + marker.length, intermediates),
    end: index + 1,
  }
}

function readParameters(text: string, start: number, end: number): readonly number[] {
  const parameters = [0]
  for (let index = start; index < end; index += 1) {
    const digit = text.charCodeAt(index) - 0x30
    if (digit > 9) {
      if (parameters.length === PARAMETERS_MAX) break
      parameters.push(0)
    } else {
      const last = parameters.length - 1
      parameters[last] = Math.min(PARAMETER_MAX, (parameters[last] ?? 0) * 10 + digit)
    }
  }
  return parameters
}

type StringKind = 'osc' | 'dcs' | 'other'

/** OSC, DCS, APC, PM, SOS; `ESC k` is the title of screen and tmux. */
const stringKinds: Readonly<Record<string, StringKind>> = {
  ']': 'osc',
  P: 'dcs',
  _: 'other',
  '^': 'other',
  X: 'other',
  k: 'other',
}

/**
 * Finds the index behind a control string; null where it has no end, so that a lone introducer does not swallow
 * a text. ECMA-48 ends it with ST, xterm an operating system command also with BEL; CAN and SUB break it off.
 * Only device control strings go over several lines (pictures do).
 */
function stringEnds(text: string): (kind: StringKind, start: number) => number | null {
  // Whatever begins before the place where a search failed fails there, too: no text is searched twice.
  const failedAt: Record<StringKind, number> = { osc: -1, dcs: -1, other: -1 }
  const candidates = new RegExp(String.raw`[\u0007\n\u0018\u001a\u001b\u009c]`, 'g')
  return function stringEnd(kind, start) {
    if (start <= failedAt[kind]) return null
    candidates.lastIndex = start
    for (let found = candidates.exec(text); found !== null; found = candidates.exec(text)) {
      const [character] = found
      const end = found.index + 1
      if (character === '\u0018' || character === '\u001a') return end
      if (character === '\u0007' && kind === 'osc') return end
      if (character === '\u009c' && !isWithinMojibake(text, found.index)) return end
      if (character === '\u001b' && text[end] === '\\') return end + 1
      if (character === '\u001b' || (character === '\n' && kind !== 'dcs')) {
        failedAt[kind] = found.index
        return null
      }
    }
    failedAt[kind] = text.length
    return null
  }
}

function isContinuation(code: number): boolean {
  return code >= 0x80 && code <= 0xbf
}
