/**
 * A message's JSON, easier to read: line breaks, tabs and quotation marks as themselves. It is text that may have been
 * cut anywhere, so it is not parsed; all other escapes stay as they are, so that what a terminal would act on is seen.
 */
export function unescaped(json: string): string {
  return json.replaceAll(/\\(?:([ntr"/\\])|u[\da-f]{4})/gi, (escape: string, character?: string) =>
    character === undefined ? escape : (plain[character] ?? escape),
  )
}

/** A text with what a terminal would act on made visible: `^[` for an escape. Tabs and line breaks stay. */
export function shownControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, (control) => {
    const code = control.charCodeAt(0)
    if (control === '\r') return ''
    return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : code === 0x7f ? '^?' : ' '
  })
}

/** The beginning of a text in a line, without the colours of a terminal. */
export function firstWords(text: string, charactersMax: number): string {
  const line = text
    .slice(0, 4 * charactersMax)
    .replaceAll(/\p{Cc}\[[\d;?]*[A-Za-z]/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax).toWellFormed()}…`
}

/** The JSON of what is no text, with its long runs of characters told by their length: only a server can read them. */
export function withoutOpaque(json: string): string {
  return json.replaceAll(/[\w+/=-]{120,}/g, (run) => `${run.slice(0, 24)}… (${run.length} characters)`)
}

// --- internal ---

const plain: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '', '"': '"', '/': '/', '\\': '\\' }
