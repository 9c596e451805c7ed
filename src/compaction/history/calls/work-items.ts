import { isJsonObject, parseJsonText, type JsonObject } from '../../../json/json-value.ts'
import { looksAt, waysIn } from './tool-words.ts'

/** Whether a call writes the list of work: all of it, or one item; null if it does neither. */
export function workIn(name: string, given: JsonObject): 'list' | 'item' | null {
  if (itemTool.test(name)) return 'item'
  if (waysIn(given).some((way) => looksAt(way))) return null
  const items = workItems(given)
  if (items !== null) {
    const isWork =
      listTool.test(name) || items.every(({ status }) => typeof status === 'string' && workState.test(status))
    return isWork ? 'list' : null
  }
  const isEmptied = Object.entries(given).some(
    ([key, field]) => listKey.test(key) && Array.isArray(field) && field.length === 0,
  )
  return listTool.test(name) && isEmptied ? 'list' : null
}

/**
 * The items of a list of work, each with a status: objects that have one, or flags for it, beside something that they say; or
 * the lines of a checklist. Null if what is given is no such list.
 */
export function workItems(given: JsonObject, depth = 0): readonly JsonObject[] | null {
  for (const [key, field] of Object.entries(given)) {
    if (typeof field === 'string') {
      // A checklist that is written into a file is that file's.
      if (depth === 0 && !listKey.test(key)) continue
      const value = field.startsWith('[{') ? parseJsonText(field) : undefined
      const items = Array.isArray(value) ? workItems({ value }, depth + 1) : checklistIn(field)
      if (items !== null) return items
    } else if (isJsonObject(field) && depth === 0) {
      const items = workItems(field, depth + 1)
      if (items !== null) return items
    } else if (Array.isArray(field) && field.length > 0) {
      const items = field.map(itemOf)
      if (items.every((item) => item !== null)) return items
    }
  }
  return null
}

/** Whether work in this state is still to be done. */
export function isOpenWork(status: unknown): boolean {
  return typeof status !== 'string' || !closedWork.test(status.trim())
}

// --- internal ---

/** How tools are called that write a list, which may be emptied, or one item of it. */
const listTool = /todo|plan|task/i
const listKey = /todo|plan|task|item|step|list/i
const itemTool = /^(?:task|todo)_?(?:create|add|update)$/i

const closedWork =
  /^(?:complet|done|finish|cancel|skip|clos|resolv|abandon|success|pass|merged|x$|won.?t|[✅✔☑])/i
/** States that work has, and hardly anything else. */
const workState =
  /^(?:pending|in[ _-]?progress|to[ _-]?do|open|not[ _-]?started|blocked|waiting|active|complet\w*|done|finished|cancell?ed|skipped)$/i

/** An object with a status, or a flag for one, and with an id or something that it says. */
function itemOf(value: unknown): JsonObject | null {
  if (!isJsonObject(value)) return null
  const flag = [value['done'], value['completed'], value['checked']].find((each) => typeof each === 'boolean')
  const status =
    typeof value['status'] === 'string'
      ? value['status']
      : flag === undefined
        ? null
        : flag
          ? 'completed'
          : 'pending'
  const saysMore = Object.entries(value).some(
    ([key, field]) => key !== 'status' && (typeof field === 'string' || /id$/i.test(key)),
  )
  return status === null || !saysMore ? null : { ...value, status }
}

function checklistIn(text: string): readonly JsonObject[] | null {
  if (!text.includes('[ ]') && !/\[[xX~-]\]/.test(text)) return null
  const items = text.split('\n').flatMap((line) => {
    const [, mark = '', content = ''] = /^\s*(?:[-*]|\d+\.)?\s*\[([ xX~-])\]\s+(\S.*)$/.exec(line) ?? []
    return content === ''
      ? []
      : [{ content, status: /x/i.test(mark) ? 'completed' : mark === ' ' ? 'pending' : 'in_progress' }]
  })
  return items.length > 0 ? items : null
}
