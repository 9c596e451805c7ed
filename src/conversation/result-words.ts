import { isJsonObject, parseJsonText } from '../json/json-value.ts'
import { remindersIn, withoutReminders } from './reminders.ts'

/**
 * Whether a result says nothing but that what was asked for is what was given before: it states that nothing has changed,
 * points to something that was given earlier, and every clause of it is about that. What it quotes is somebody else's word,
 * and a client's reminder beside it is no part of it. Whether there was anything earlier is another question.
 */
export function refersBack(text: string): boolean {
  const own = withoutReminders(text)
  const said = clausesIn(own.trim() === '' ? remindersIn(text).join('\n') : own)
  const all = said.join('. ')
  return (
    all.length <= REFERENCE_CHARS_MAX &&
    saysSame.test(all) &&
    (pointsBack.test(all) || isRepeated.test(all)) &&
    !speaksAgainst.test(all) &&
    said.every((clause) => isAbout.test(clause) || !isNews.test(clause))
  )
}

/** Whether a result tells of a failure: by an error that it states, by how it begins, or by an exit code. */
export function tellsFailure(text: string): boolean {
  const value =
    text.length <= REFERENCE_CHARS_MAX && text.trimStart().startsWith('{') ? parseJsonText(text) : undefined
  if (isJsonObject(value))
    return (
      Boolean(value['error']) || value['success'] === false || value['ok'] === false || failedExit.test(text)
    )
  const [beginning, end] = [text.slice(0, LOOKED_AT_CHARS), text.slice(-LOOKED_AT_CHARS)]
  return beginsWithFailure.test(beginning) || failedExit.test(beginning) || failedExit.test(end)
}

// --- internal ---

const LOOKED_AT_CHARS = 200

const beginsWithFailure =
  /^\s*(?:<[\w-]*error[\w-]*>|\[?(?:\w+ ){0,2}\w*(?:error|exception|failure|fatal|panic)\]?\s?[:!]|traceback \(|npm err!|failed to |cannot |could not |unable to |no such file|permission denied|[^\n]{0,160}\bnot found\.?\s*(?:\n|$)|[^\n]{0,80}\*\*\* [^\n]{0,40}\berror \d)/i

const failedExit = /\bexit(?:ed with)?[ _-](?:code|status)["']?\s*(?:was|is|of|:|=)?\s*[1-9]/i

/** The longest that is known has 370 characters and a path; whoever says more says something else, too. */
const REFERENCE_CHARS_MAX = 700

const saysSame =
  /\b(?:un(?:changed|modified|altered)|(?:not|no|without) (?:\w+ )?(?:chang|modif|alter|updat)\w*|(?<!not (?:the )?)(?:identical|duplicate|same)|still (?:\w+ ){0,3}(?:current|valid|context|above)|already (?:\w+ ){0,4}(?:read|seen|shown|view|load|fetch|provid|return|retriev|sent|context)\w*)\b|n't (?:been )?(?:chang|modif|alter|updat)/

const earlier = String.raw`(?:last|previous(?:ly)?|prior|earlier|already|above|before|since|first)`
const given = String.raw`(?:read|view|fetch|load|show|provid|return|retriev|open|sen[td]|call|result|output|respon|context|conversation|content|seen?|saw|display|access)\w*`
const between = String.raw`(?:\W+\w+){0,2}?\W+`

/** An act of giving, and that it was earlier, within a few words. */
const pointsBack = new RegExp(String.raw`\b(?:${earlier}${between}${given}|${given}${between}${earlier})\b`)

/** What says both at once. */
const isRepeated = /\b(?:cached|dedup\w*)\b/

const speaksAgainst = /\b(?:fail\w*|error\w*|denied|refused|replaced|but|however|passed)\b|[={}]|\w\(/

/** What a clause is about that belongs to a reference. */
const isAbout = new RegExp(
  String.raw`\b(?:${given}|file|refer\w*|re-?read\w*|chang\w*|modif\w*|un\w+ed|same|identical|wasted|skip\w*|omit\w*|cached|dedup\w*|mtime|sha\d*)\b`,
)

/** A clause of three words or with a figure says something. */
const isNews = /\d|\w+\W+\w+\W+\w+/

/** A quotation, and a name with a point, a slash or an underscore in it. */
const quoted = /"[^"\n]*"|`[^`\n]*`|“[^”\n]*”/g
const name = /[\w~-]*[./\\@:][\w./\\@:#~-]*[\w/]/g

/** What a result says in its own words, clause by clause, in small letters: of an object its texts and what it calls true. */
function clausesIn(text: string): readonly string[] {
  if (text.length > 4 * REFERENCE_CHARS_MAX) return [text]
  const value = /^\s*[{"]/.test(text) ? parseJsonText(text) : undefined
  const texts = value === undefined ? [text] : textsIn(value)
  return texts.flatMap((each) =>
    each
      .replaceAll('’', "'")
      .replaceAll(quoted, ' ')
      .replaceAll(name, ' ')
      .replaceAll('_', ' ')
      .toLowerCase()
      .split(/[.;!?\n—–]+/)
      .filter((clause) => clause.trim() !== ''),
  )
}

/** A figure of the object itself may be a time or a size; one in what it holds is news. */
function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return depth > 1 ? [String(value)] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, field]: [string, unknown]) =>
    field === true ? [key] : textsIn(field, depth + 1),
  )
}
