import { contentIn, valueText, withContent, withoutMembers } from '../content/joined-content.ts'
import { textPart } from '../content/text-part.ts'

/**
 * Users' messages, given as JSON, as they are joined: where not all bear one name none bears one, and each has its own before
 * its text. Else the words of all would be those of whoever spoke first.
 */
export function saidApart(messages: readonly string[]): readonly string[] {
  const names = messages.map((message) => valueText(message, 'name'))
  if (names.every((name) => name === names[0])) return messages
  return messages.map((message, position) => {
    const said = (names[position] ?? '').slice(1, -1)
    const content = contentIn(message)
    if (said === '' || content === null) return message
    const isEmpty = /^\[\s*\]$/.test(content.json)
    const named =
      content.kind === 'string'
        ? `"${said}: ${content.json.slice(1)}`
        : `[${textPart(`"${said}:"`)}${isEmpty ? '' : ','}${content.json.slice(1)}`
    return withContent(withoutMembers(message, NAME), named)
  })
}

// --- internal ---

const NAME: ReadonlySet<string> = new Set(['name'])
