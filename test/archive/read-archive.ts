/** What stands under a heading of an archive's file. */
export type Section = {
  /** Without its `#`. */
  readonly heading: string
  /** Of a message its number in its name; null for any other heading. */
  readonly number: number | null
  /** The contents of its code fences, in their order. */
  readonly fences: readonly string[]
}

/** A file of an archive as a Markdown reader takes it: what stands in a fence is no heading. */
export function readArchive(text: string): readonly Section[] {
  const sections: { heading: string; number: number | null; fences: string[] }[] = []
  let fence: string | null = null
  let lines: string[] = []
  for (const line of text.split('\n')) {
    if (fence !== null) {
      if (line === fence) {
        sections.at(-1)?.fences.push(lines.join('\n'))
        fence = null
      } else lines.push(line)
      continue
    }
    const [, heading] = /^#{1,2} (.*)$/.exec(line) ?? []
    if (heading !== undefined) {
      const [, number] = /^#(\d+) /.exec(heading) ?? []
      sections.push({ heading, number: number === undefined ? null : Number(number), fences: [] })
    } else if (/^(`{3,}|~{3,})$/.test(line)) {
      fence = line
      lines = []
    }
  }
  if (fence !== null) throw new Error('a fence is not closed')
  return sections
}

/** The headings of a file. */
export const headingsOf = (text: string): readonly string[] => readArchive(text).map(({ heading }) => heading)
