/** The text of markup, as a reader gets it: without tags, with blanks joined. */
export function visibleText(markup: { toString: () => string }): string {
  return markup
    .toString()
    .replaceAll(/<title>[^<]*<\/title>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:])/g, '$1')
    .trim()
}
