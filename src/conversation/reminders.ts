/**
 * What is left of a user's text without the reminders that clients put between the user's words, in tags: nobody said them.
 * One that hands on what the user typed meanwhile stays.
 */
export function withoutReminders(text: string): string {
  let left = ''
  let from = 0
  for (const { start, end } of reminderPlaces(text)) {
    if (handsOn.test(text.slice(start + OPENING.length, start + OPENING.length + HANDS_ON_CHARS))) continue
    left += text.slice(from, start)
    from = end
  }
  return left + text.slice(from)
}

/** The reminders in a text with their tags, in their order. */
export function remindersIn(text: string): readonly string[] {
  return [...reminderPlaces(text)].map(({ start, end }) => text.slice(start, end))
}

// --- internal ---

function* reminderPlaces(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let end = 0; ;) {
    const start = text.indexOf(OPENING, end)
    const close = start === -1 ? -1 : text.indexOf(CLOSING, start)
    if (close === -1) return
    end = close + CLOSING.length
    yield { start, end }
  }
}

const OPENING = '<system-reminder>'
const CLOSING = '</system-reminder>'

/** How Claude Code hands on what was typed while it worked. */
const handsOn = /^\s*The user sent\b/
const HANDS_ON_CHARS = 32
