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

function isContinuation(code: number): boolean {
  return code >= 0x80 && code <= 0xbf
}
