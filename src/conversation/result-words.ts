import { isJsonObject, parseJsonText } from './json-value.ts'

/**
 * Whether a result says nothing but that what was asked for is what was given before: it states that nothing has changed,
 * points to something that was given earlier, and has neither figures of its own nor room for anything else. What it quotes
 * is somebody else's word. Whether there was anything earlier is another question.
 */
export function refersBack(text: string): boolean {
  if (text.length > REFERENCE_CHARS_MAX) return false
  const said = wordsIn(text)
  return saysSame.test(said) && (pointsBack.test(said) || isRepeated.test(said)) && !ownFigure.test(said)
}

/** Whether a result begins by telling of a failure, or names an exit code that is one. */
export function tellsFailure(text: string): boolean {
  return beginsWithFailure.test(text.slice(0, LOOKED_AT_CHARS)) || failedExit.test(endsOf(text))
}

// --- internal ---

const LOOKED_AT_CHARS = 200

const beginsWithFailure =
  /^[\W_]*(?:<[\w-]+>\s*)*(?:tool_use_)?(?:"?\w+ )?(?:error|failed|failure|fatal|exception|traceback|panic|invalid|cannot|could not|can't|unable|no such|not found|permission denied)\b|"(?:success|ok)": ?false\b/i

const failedExit = /\bexit(?:ed with)?[ _-]?(?:code|status|value)?["']?(?: was| is)?[:= ] ?[1-9]/i

function endsOf(text: string): string {
  return text.length <= 2 * LOOKED_AT_CHARS
    ? text
    : `${text.slice(0, LOOKED_AT_CHARS)}\n${text.slice(-LOOKED_AT_CHARS)}`
}

/** The longest that is known has 370 characters and a path; whoever says more says something else, too. */
const REFERENCE_CHARS_MAX = 700

const saysSame =
  /\b(?:un(?:changed|modified|altered)|(?:not|n't|no|without) (?:\w+ )?(?:chang|modif|alter|updat)\w*|identical|duplicate|same|still (?:\w+ ){0,3}(?:current|valid|context|above)|already (?:\w+ ){0,4}(?:read|seen|shown|view|load|fetch|provid|return|retriev|open|sent|context|above)\w*)\b/

const earlier = String.raw`(?:last|previous(?:ly)?|prior|earlier|already|above|before|since|first)`
const given = String.raw`(?:read|view|fetch|load|show|provid|return|retriev|open|sen[td]|call|result|output|respon|context|conversation|content|seen?|saw|display|access)\w*`
const between = String.raw`(?:\W+\w+){0,2}?\W+`

/** An act of giving, and that it was earlier, within a few words. */
const pointsBack = new RegExp(String.raw`\b(?:${earlier}${between}${given}|${given}${between}${earlier})\b`)

/** What says both at once. */
const isRepeated = /\b(?:cached|dedup\w*)\b/

/** A number that is none of a line, a message or a call, and stands in no name. */
const ownFigure =
  /(?<![\w./\\#-])(?<!\b(?:lines?|offset|limit|range|message|call|step|turn|part|page|to|through|and) )(?<!\d ?[-–] ?)\d/

/** A quotation, and a name with a point, a slash or an underscore in it. */
const quoted = /"[^"\n]*"|`[^`\n]*`|“[^”\n]*”/g
const name = /[\w~-]*[./\\@:][\w./\\@:#~-]*[\w/]/g

/** What a result says in its own words, in small letters: of an object its texts and what it calls true. */
function wordsIn(text: string): string {
  const value = /^\s*[{"]/.test(text) ? parseJsonText(text) : undefined
  if (!isJsonObject(value)) return ownWords(typeof value === 'string' ? value : text)
  return Object.entries(value)
    .flatMap(([key, field]) => {
      if (field === true) return [key]
      return typeof field === 'string' ? [field] : typeof field === 'object' && field !== null ? ['0'] : []
    })
    .map(ownWords)
    .join('. ')
}

function ownWords(text: string): string {
  return text
    .replaceAll('’', "'")
    .replaceAll(quoted, ' ')
    .replaceAll(name, ' ')
    .replaceAll('_', ' ')
    .toLowerCase()
}
