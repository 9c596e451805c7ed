/** The files that a command line or a program names, and those of them that it writes, moves or removes. */
export function filesIn(text: string): Record<'named' | 'changed', readonly string[]> {
  const named = new Set<string>()
  const changed = new Set<string>()
  for (const [, , opened, , written] of text.matchAll(openedToWrite))
    changed.add(pathAsCompared(opened ?? written ?? ''))
  for (const part of withoutHereDocuments(text).split(partEnd)) {
    const files = part
      .replaceAll(quotedWord, (_, one: string = '', other: string = '') =>
        isName.test(one + other) ? one + other : ' ',
      )
      .split(wordEnd)
      .filter(isFile)
      .map(pathAsCompared)
    for (const file of files) named.add(file)
    for (const [, path = ''] of part.matchAll(redirected)) if (isFile(path)) changed.add(pathAsCompared(path))
    const command = part.slice(0, COMMAND_CHARS)
    if (copies.test(command)) changed.add(files.at(-1) ?? '')
    else if (writes.test(command)) for (const file of files) changed.add(file)
  }
  changed.delete('')
  return {
    named: [...new Set([...named, ...changed])].slice(0, FILES_MAX),
    changed: [...changed].slice(0, FILES_MAX),
  }
}

/** Whether a name is one of a file, or an address: a directory has no state that anybody quotes. */
export function isFile(name: string): boolean {
  return (
    !name.startsWith('-') &&
    name.length <= NAME_CHARS_MAX &&
    /[^/\\.]\.[A-Za-z]\w{0,5}$|^\w+:\/\/\S+$/.test(name)
  )
}

/** A path as it is compared. */
export function pathAsCompared(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
}

// --- internal ---

const FILES_MAX = 32
const NAME_CHARS_MAX = 512

/** Of a longer command the beginning tells what it does. */
const COMMAND_CHARS = 1_024

/** What a command is given on the lines behind it is no command. */
function withoutHereDocuments(text: string): string {
  if (!text.includes('<<')) return text
  let end: string | null = null
  return text
    .split('\n')
    .filter((line) => {
      const isCommand = end === null
      if (isCommand) end = /<<-?\s*["']?(\w+)/.exec(line)?.[1] ?? null
      else if (line.trim() === end) end = null
      return isCommand
    })
    .join('\n')
}

const partEnd = /[;|\n]+|&&/
const wordEnd = /[\s=(){}<>,"']+/

/** Quoted words are a script, a pattern or a message; a quoted name is one. */
const quotedWord = /'([^'\n]*)'|"([^"\n]*)"/g
const isName = /^[\w./~$@+-]+$/

const redirected = /(?:(?<![-=<&])>{1,2}|\s(?:-o|--output)[\s=])\s*["']?([\w./~$-]+)/g
const openedToWrite =
  /\b(?:(?:open|Path)\(\s*(["'])([^"'\n]{1,256})\1(?:\s*,\s*["'][wax]|\)\.write)|writeFile(?:Sync)?\(\s*(["'])([^"'\n]{1,256})\3)/g

/** A part of a command line begins with what is run, behind variables that are set for it. */
const begins = String.raw`^\s*(?:sudo\s+|\w+=\S+\s+)*`
const copies = new RegExp(String.raw`${begins}cp\s`)
const writes = new RegExp(
  String.raw`${begins}(?:(?:tee|rm|mv|touch|patch(?!.*--dry-run)|truncate|black|Set-Content|git\s+(?:apply|checkout|restore))\s|(?:sed|perl|awk|gawk)\s(?:.{0,200}\s)?-(?:-in-?place|\w*i)\b|(?!grep|rg)[^\n]*\s(?:--write|--fix|-w)\s)`,
)
