/** The files that a command line or a program names, and those of them that it writes, moves or removes. */
export function filesIn(text: string): {
  readonly named: readonly string[]
  readonly changed: readonly string[]
} {
  const named = new Set<string>()
  const changed = new Set<string>()
  for (const [, , path = ''] of text.matchAll(openedToWrite)) changed.add(pathAsCompared(path))
  for (const part of text.replaceAll(hereDocument, '$1').split(partEnd)) {
    const words = part.replaceAll(quotedWords, ' ').split(/[\s=()]+/)
    const files = words
      .map((word) => word.replace(/^\d?>{1,2}/, ''))
      .filter(isFile)
      .map(pathAsCompared)
    for (const file of files) named.add(file)
    for (const [, path = ''] of part.matchAll(redirected)) if (isFile(path)) changed.add(pathAsCompared(path))
    if (copies.test(part)) changed.add(files.at(-1) ?? '')
    else if (writes.test(part)) for (const file of files) changed.add(file)
  }
  changed.delete('')
  return {
    named: [...new Set([...named, ...changed])].slice(0, FILES_MAX),
    changed: [...changed].slice(0, FILES_MAX),
  }
}

/** Whether a name is one of a file, or an address: a directory has no state that anybody quotes. */
export function isFile(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && /^[\w@~$:./\\+#-]*[^/\\.]\.[A-Za-z]\w{0,5}$|^\w+:\/\//.test(name)
}

/** A path as it is compared. */
export function pathAsCompared(path: string): string {
  return path.replace(/^(?:\.\/)+/, '')
}

// --- internal ---

const FILES_MAX = 32
const NAME_CHARS_MAX = 512

/** What a command is given on the lines behind it is no command. */
const hereDocument = /<<-?\s*["']?(\w+)["']?[\s\S]*?\n\s*\1\b/g

const partEnd = /[;|\n]+|&&/

/** Quoted words are a script, a pattern or a message; a quoted name is one. */
const quotedWords = /'[^'\n]*[^\w./'~$@-][^'\n]*'|"[^"\n]*[^\w./"~$@-][^"\n]*"|["']/g

const redirected = /(?<![-=<&])>{1,2}\s*["']?([\w./~$-]+)/g
const openedToWrite = /\b(?:open|Path)\(\s*(["'])([^"'\n]{1,256})\1(?:\s*,\s*["'][wax]|\)\.write)/g

const copies = /(?:^|\s)cp\s/
const writes =
  /(?:^|\s)(?:(?:sed|perl)\s[^\n]*?-\w*i|(?:tee|rm|mv|touch|patch|truncate)\s|git\s+(?:apply|checkout|restore)\s)/
