import { readdir, readFile, stat, access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { flags, commands } from '../../src/config/flags.ts'
import { eventTypes } from '../../src/activity/journal/rows.ts'
import { metricNames } from '../../src/activity/metrics/metric-names.ts'
import { httpStatusOf } from '../../src/errors.ts'
import { allPages, anchorsOf, fencedBlocks, root, sources, type Page } from './pages.ts'

const pages = await allPages()

function pageAt(path: string): string {
  return pages.find((page) => page.path === path)?.text ?? ''
}

/** The words in backticks, outside of fenced blocks. */
function codeWords(text: string): readonly string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map((word) => word[1] ?? '')
}

async function brokenLinks({ path, text }: Page): Promise<readonly string[]> {
  const broken: string[] = []
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(target)) continue
    const [file = '', anchor] = target.split('#')
    const at = file === '' ? join(root, path) : join(root, dirname(path), file)
    const there = await stat(at).catch(() => null)
    if (there === null) broken.push(`${path}: ${target}`)
    if (there === null || anchor === undefined) continue
    if (!anchorsOf(await readFile(at, 'utf8')).has(anchor)) broken.push(`${path}: ${target}`)
  }
  return broken
}

describe('what a page names is there', () => {
  test('every link leads to a file, every anchor to a heading', async () => {
    expect(pages.length).toBeGreaterThan(10)
    expect((await Promise.all(pages.map(brokenLinks))).flat()).toEqual([])
  })

  test('every path in backticks is a path of the repository', async () => {
    const named = pages.flatMap(({ text }) => codeWords(text))
    const paths = named.filter((word) => /^(?:src|test|docs|profiles|examples)\/[\w./-]*\w$/.test(word))
    const missing: string[] = []
    for (const path of new Set(paths)) {
      if ((await stat(join(root, path)).catch(() => null)) === null) missing.push(path)
    }
    // A reader's own file and folder, as an example.
    expect(missing.filter((path) => !/^profiles\/(?:NAME|small-qwen)\.yaml$/.test(path))).toEqual([])
  })

  test('every npm script and npx tool of the shell blocks is in package.json', async () => {
    const { scripts, devDependencies } = z
      .object({
        scripts: z.record(z.string(), z.string()),
        devDependencies: z.record(z.string(), z.string()),
      })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
    const commandsNamed = pages.flatMap(({ text }) => [...fencedBlocks(text, 'sh'), ...codeWords(text)])
    const lines = commandsNamed.join('\n')
    const scriptNames = [...lines.matchAll(/\bnpm (?:run )?(?!ci\b|install\b|run\b)([\w:]+)/g)].map(
      (found) => found[1] ?? '',
    )
    const tools = [...lines.matchAll(/\bnpx (\w+)/g)].map((found) => found[1] ?? '')
    expect(scriptNames).toContain('start')
    expect(scriptNames).toContain('demo')
    expect(scriptNames.filter((name) => scripts[name] === undefined)).toEqual([])
    expect(tools.filter((name) => name !== 'foldgate' && devDependencies[name] === undefined)).toEqual([])
  })

  test('every command and flag of Foldgate is one that it takes', () => {
    const lines = pages.flatMap(({ text }) => [...fencedBlocks(text, 'sh'), ...codeWords(text)])
    const spoken = lines.filter((line) => /^(?:(?:npx )?foldgate|npm start|node dist\/main\.js)\b/.test(line))
    const words = spoken.flatMap((line) =>
      [...line.matchAll(/^(?:npx )?foldgate ([a-z]+)/g)].map((found) => found[1]),
    )
    const flagsNamed = lines
      .filter((line) => /^(?:--|(?:npx )?foldgate|npm start|node )/.test(line))
      .flatMap((line) => [...line.matchAll(/(?<![\w-])--([a-z][a-z-]+)/g)].map((found) => found[1]))
      // Flags of other programs that the pages speak of.
      .filter(
        (name) =>
          ![
            'model',
            'ctx-size',
            'max-model-len',
            'max-chat-history-tokens',
            'build',
            'rm',
            'settings',
            'auth-type',
          ].includes(name ?? ''),
      )
    const known = new Set<string>(flags.map(({ name }) => name))
    expect(words.filter((word) => !Object.hasOwn(commands, word ?? ''))).toEqual([])
    expect(flagsNamed.filter((name) => !known.has(name ?? ''))).toEqual([])
  })

  test('every x-foldgate header is one that the source knows', async () => {
    const source = await sources()
    const named = pages.flatMap(({ text }) =>
      [...text.matchAll(/x-foldgate-([a-z]+)/g)].map((found) => found[1]),
    )
    const unknown = [...new Set(named)].filter((name) => {
      const isRead = source.includes(`read('${name}')`)
      return !isRead && !source.includes(`'x-foldgate-${name}'`)
    })
    expect(unknown).toEqual([])
  })

  test('every profile key and setting in backticks is in the tables made from the schemas', () => {
    const rows = pageAt('docs/configuration.md').matchAll(/^\| `([\w.[\]]+)` \|/gm)
    const known = new Set(Array.from(rows, (row) => row[1] ?? ''))
    const roots = new Set(Array.from(known, (key) => key.split('.')[0]?.replace('[]', '')))
    const named = pages
      .filter(({ path }) => path !== 'docs/configuration.md')
      .flatMap(({ text }) => codeWords(text))
      .map((word) => word.replace(/: .*$/, ''))
      .filter((word) => /^[a-z_]+(?:\[\])?(?:\.[a-z_]+)+$/.test(word) && !isFile(word))
      .filter((word) => roots.has(word.split('.')[0]?.replace('[]', '')))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((word) => !known.has(word))).toEqual([])
  })
})

describe('what is told is told whole', () => {
  test('docs/headers.md explains every header that an answer may carry', async () => {
    const answered = [
      ...(await sources()).matchAll(/headers\['(x-foldgate-[a-z]+)'\]|^ {4}'(x-foldgate-[a-z]+)':/gm),
    ]
    const names = new Set(answered.map((found) => found[1] ?? found[2] ?? ''))
    expect(names.size).toBeGreaterThan(8)
    const page = pageAt('docs/headers.md')
    expect([...names].filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([])
  })

  test('every client has a page that is listed, and says what to set, what was tried and what to know', async () => {
    const names = await readdir(join(root, 'docs/clients'))
    expect(names.length).toBeGreaterThan(15)
    const list = pageAt('docs/connect.md')
    expect(names.filter((name) => !list.includes(`](clients/${name})`))).toEqual([])
    const bare = names.filter((name) => {
      const headings = [...pageAt(`docs/clients/${name}`).matchAll(/^## (.*)$/gm)].map(([, said]) => said)
      return headings.join(' ') !== 'Set Tried Know'
    })
    expect(bare).toEqual([])
  })

  test('the glossary has every folder, header, metric and event', async () => {
    const page = pageAt('docs/glossary.md').toLowerCase()
    const words = new Set([
      ...page.split(/[^a-z-]+/),
      ...page.replaceAll('x-foldgate-', '').split(/[^a-z-]+/),
    ])
    const folders = await foldersOf('src')
    const headers = [...(await sources()).matchAll(/x-foldgate-([a-z-]+)/g)].map((found) => found[1] ?? '')
    const metrics = Object.keys(metricNames).map((name) => name.replace(/^foldgate_/, ''))
    const metricWords = metrics
      .flatMap((name) => name.split('_'))
      .filter((word) => !ofPrometheus.has(singular(word)))
    const missing = [...folders, ...headers, ...eventTypes, ...metricWords].filter(
      (name) => !words.has(name) && !words.has(singular(name)) && !words.has(`${name}s`),
    )
    expect([...new Set(missing)]).toEqual([])
  })

  test('the README fits into some minutes', () => {
    expect(pageAt('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_000)
  })

  test('docs/observability.md explains every metric', () => {
    const page = pageAt('docs/observability.md')
    expect(Object.keys(metricNames).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test('docs/edges.md names every error of our own but the catch-all', () => {
    const page = pageAt('docs/edges.md')
    const missing = Object.keys(httpStatusOf).filter((code) => !page.includes(`\`${code}\``))
    expect(missing).toEqual(['internal_error'])
  })

  test('every promise names a test file', () => {
    const promises = pageAt('docs/promises.md').split(/^### /m).slice(1)
    expect(promises.map((text) => text.split('.')[0])).toEqual(
      Array.from({ length: 11 }, (_, index) => `P${index + 1}`),
    )
    expect(promises.filter((text) => !/\]\(\.\.\/test\/[\w/-]+\.test\.ts\)/.test(text))).toEqual([])
  })

  test('decision pages fit on a page', () => {
    const decisions = pages.filter(({ path }) => path.startsWith('docs/decisions/'))
    expect(decisions.length).toBeGreaterThan(4)
    expect(decisions.filter(({ text }) => text.split(/\s+/).length > 450).map(({ path }) => path)).toEqual([])
  })
})

// A page on security that nobody can hold to its word is worth as little as none. Each claim names what would fail if it
// were not true.
describe.each(['SECURITY.md', 'docs/privacy.md'])('%s', (path) => {
  const read = () => readFile(join(root, path), 'utf8')

  test('names a test for each thing that it claims', async () => {
    const claims = claimsIn(await read())
    expect(claims.length).toBeGreaterThan(10)
    expect(
      claims.filter((claim) => !/\btest\/[\w/.-]+/.test(claim)).map((claim) => claim.slice(0, 80)),
    ).toEqual([])
  })

  test('names tests that are there', async () => {
    const named = [...(await read()).matchAll(/\btest\/[\w/-]+(?:\.test)?(?:\.ts)?/g)].map(([name]) => name)
    expect(named.length).toBeGreaterThan(20)
    const missing: string[] = []
    for (const name of new Set(named)) await access(join(root, name)).catch(() => missing.push(name))
    expect(missing).toEqual([])
  })
})

// --- internal ---

/** Words that say in what a metric is counted, and of what. */
const ofPrometheus = new Set('total second info build beyond prompt call added first byte event'.split(' '))

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '')
}

/** The last name of every folder below this one. */
async function foldersOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

function isFile(word: string): boolean {
  return /\.(?:ts|js|md|ya?ml|json)$/.test(word)
}

/** List items, rows of tables but for their heads, and sections that have neither. */
function claimsIn(text: string): readonly string[] {
  return text
    .split(/^## /m)
    .slice(1)
    .filter((section) => !section.startsWith('Reporting'))
    .flatMap((section) => {
      const lines = section.split('\n')
      const isHead = (at: number): boolean => /^\|[-|]+\|$/.test(lines[at + 1] ?? '')
      const claims = lines.filter(
        (line, at) => line.startsWith('- ') || (line.startsWith('| ') && !isHead(at)),
      )
      // A section without a list is one claim.
      return claims.length > 0 ? claims : [section]
    })
}
