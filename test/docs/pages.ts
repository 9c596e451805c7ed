import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The repository's root. */
export const root = join(import.meta.dirname, '../..')

/** A page of the documentation: its path from the root, and its text. */
export type Page = { readonly path: string; readonly text: string }

/** Every Markdown page of the repository. */
export async function allPages(): Promise<readonly Page[]> {
  const names = [...(await markdownIn('.', false)), ...(await markdownIn('docs', true))]
  return Promise.all(names.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })))
}

/** The text of every source file below a folder, joined. */
export async function sources(folder = 'src'): Promise<string> {
  const names = await readdir(join(root, folder), { recursive: true })
  const files = names.filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map((name) => readFile(join(root, folder, name), 'utf8')))
  return texts.join('\n')
}

/** The bodies of a page's fenced blocks in one language. */
export const fencedBlocks = (text: string, language: string): readonly string[] =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter((block) => block[1] === language)
    .map((block) => block[2] ?? '')

/** A comment before a block that says why its lines are not run, or only those that begin so. */
type Marker = { readonly begins: string; readonly reason: string; readonly finds: number }

/**
 * The lines of a page's blocks for a shell, each with what keeps a test from running it. That stands before the block:
 * `<!-- not run: needs Docker -->`, or of some of its lines `<!-- not run (docker): needs Docker -->`.
 */
export function shellBlocksIn(text: string) {
  return Array.from(
    text.matchAll(/((?:^<!-- not run[^\n]* -->\n)*)^```sh\n(.*?)^```$/gms),
    ([, comments = '', body = '']) => {
      const lines = body.split('\n').filter((line) => line !== '')
      const markers: readonly Marker[] = Array.from(
        comments.matchAll(/^<!-- not run(?: \((.+?)\))?: (.+) -->$/gm),
        ([, begins = '', reason = '']) => ({
          begins,
          reason,
          finds: lines.filter((line) => line.startsWith(begins)).length,
        }),
      )
      const whyNot = (line: string) => markers.find(({ begins }) => line.startsWith(begins))?.reason ?? null
      return { markers, lines: lines.map((line) => ({ line, whyNot: whyNot(line) })) }
    },
  )
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^```.*?^```$/gms, '')
  return new Set(Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading)))
}

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

async function markdownIn(folder: string, recursive: boolean): Promise<readonly string[]> {
  const names = await readdir(join(root, folder), { recursive })
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => relative(root, join(root, folder, name)))
    .sort()
}
