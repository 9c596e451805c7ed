import type { JsonObject } from '../../../json/json-value.ts'

/** What a tool does with the files that it is given, by its words; where they say nothing, by whether it is handed lines. */
export function doingOf(name: string, given: JsonObject): 'look' | 'change' | 'other' {
  const said = [...waysIn(given), name].map((words) =>
    words.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase(),
  )
  for (const words of said) {
    if (changes.test(words)) return 'change'
    if (looks.test(words)) return 'look'
  }
  return Object.values(given).some((field) => typeof field === 'string' && field.includes('\n'))
    ? 'change'
    : 'other'
}

/** The words by which a call chooses among the ways of its tool. */
export function waysIn(given: JsonObject): readonly string[] {
  return Object.entries(given).flatMap(([key, field]) =>
    wayKey.test(key) && typeof field === 'string' && !/\s/.test(field) ? [field] : [],
  )
}

/** Whether such a word says that nothing is written. */
export function looksAt(way: string): boolean {
  return looks.test(way.toLowerCase())
}

// --- internal ---

/** What a tool does, by the words of its name and of what chooses among its ways. */
const changes =
  /(?:^|[^a-z])(?:edit|write|create|replace|insert|delete|remove|patch|update|append|move|rename|undo|save|modify)/
const looks = /(?:^|[^a-z])(?:read|view|open|show|get|cat|fetch|scroll|go)/
const wayKey = /^(?:command|action|operation|mode|method)$/i
