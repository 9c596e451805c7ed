/**
 * What is left of a user's text without the reminders that clients put between the user's words, in tags: nobody said them.
 * One that hands on what the user typed meanwhile stays.
 */
export function withoutReminders(text: string): string {
  let left = ''
  let end = 0
  for (let from = 0; ;) {
    const start = text.indexOf(OPENING, from)
    const close = start === -1 ? -1 : text.indexOf(CLOSING, start)
    if (close === -1) return end === 0 ? text : left + text.slice(end)
    from = close + CLOSING.length
    if (handsOn.test(text.slice(start + OPENING.length, start + OPENING.length + HANDS_ON_CHARS))) continue
    left += text.slice(end, start)
    end = from
  }
}

/** The reminders in a text with their tags, in their order. */
export function remindersIn(text: string): readonly string[] {
  const reminders: string[] = []
  for (let start = text.indexOf(OPENING); start !== -1;) {
    const end = text.indexOf(CLOSING, start)
    if (end === -1) break
    reminders.push(text.slice(start, end + CLOSING.length))
    start = text.indexOf(OPENING, end)
  }
  return reminders
}

// --- internal ---

const OPENING = '<system-reminder>'
const CLOSING = '</system-reminder>'

/** How Claude Code hands on what was typed while it worked. */
const handsOn = /^\s*The user sent\b/
const HANDS_ON_CHARS = 32
