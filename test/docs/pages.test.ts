import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { commands, flags } from '../../src/config/flags.ts'
import { eventTypes } from '../../src/telemetry/journal/rows.ts'
import { metricNames } from '../../src/telemetry/metrics/metrics.ts'
import { httpStatusOf } from '../../src/errors.ts'
import { allPages, anchorsOf, fencedBlocks, type Page, root, sources } from './pages.ts'

const pages = await allPages()

const pageAt = (path: string): string => pages.find((page) => page.path === path)?.text ?? ''

/** What a pattern's first group finds. */
const found = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, word = '']) => word)

/** The words in backticks, outside of fenced blocks. */
const codeWords = (text: string): readonly string[] =>
  found(text.replaceAll(/^```.*?^```$/gms, ''), /`([^`\n]+)`/g)

/** What is in backticks or in a block for a shell, on all pages. */
const shellLines = pages.flatMap(({ text }) => [...fencedBlocks(text, 'sh'), ...codeWords(text)])

/** Of these paths from the root, those that are not there. */
async function missingOf(paths: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = []
  for (const path of new Set(paths)) await access(join(root, path)).catch(() => missing.push(path))
  return missing
}

async function brokenLinks({ path, text }: Page): Promise<readonly string[]> {
  const broken: string[] = []
  for (const target of found(text, /\]\(([^)\s]+)\)/g).filter((link) => !/^https?:/.test(link))) {
    const [file = '', anchor] = target.split('#')
    const at = file === '' ? join(root, path) : join(root, dirname(path), file)
    const anchors = async () => anchor === undefined || anchorsOf(await readFile(at, 'utf8')).has(anchor)
    const isThere = await access(at).then(anchors, () => false)
    if (!isThere) broken.push(`${path}: ${target}`)
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
    // A reader's own file and folder, as an example.
    const own = /^profiles\/(?:NAME|small-qwen)\.yaml$/
    expect((await missingOf(paths)).filter((path) => !own.test(path))).toEqual([])
  })

  test('every npm script and npx tool of the shell blocks is in package.json', async () => {
    const texts = z.record(z.string(), z.string())
    const { scripts, devDependencies } = z
      .object({ scripts: texts, devDependencies: texts })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
    const lines = shellLines.join('\n')
    const scriptNames = found(lines, /\bnpm (?:run )?(?!ci\b|install\b|pack\b|run\b)([\w:]+)/g)
    const tools = found(lines, /\bnpx (\w+)/g)
    expect(scriptNames).toEqual(expect.arrayContaining(['start', 'demo']))
    expect(scriptNames.filter((name) => scripts[name] === undefined)).toEqual([])
    expect(tools.filter((name) => name !== 'foldgate' && devDependencies[name] === undefined)).toEqual([])
  })

  test('every command and flag of Foldgate is one that it takes', () => {
    const words = shellLines.flatMap((line) => found(line, /^(?:npx )?foldgate ([a-z]+)/g))
    const flagsNamed = shellLines
      .filter((line) => /^(?:--|(?:npx )?foldgate|npm start|node )/.test(line))
      .flatMap((line) => found(line, /(?<![\w-])--([a-z][a-z-]+)/g))
    const known = new Set<string>([...flags.map(({ name }) => name), ...flagsOfOthers])
    expect(words.filter((word) => !Object.hasOwn(commands, word))).toEqual([])
    expect(flagsNamed.filter((name) => !known.has(name))).toEqual([])
  })

  test('every x-foldgate header is one that the source knows', async () => {
    const source = await sources()
    const named = new Set(pages.flatMap(({ text }) => found(text, /x-foldgate-([a-z]+)/g)))
    const isKnown = (name: string) =>
      source.includes(`read('${name}')`) || source.includes(`'x-foldgate-${name}'`)
    expect([...named].filter((name) => !isKnown(name))).toEqual([])
  })

  test('every profile key and setting in backticks is in the tables made from the schemas', () => {
    const known = new Set(found(pageAt('docs/configuration.md'), /^\| `([\w.[\]]+)` \|/gm))
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
    const answered = /(?<=headers\['|^ {4}')(x-foldgate-[a-z]+)(?='\]|':)/gm
    const names = new Set(found(await sources(), answered))
    expect(names.size).toBeGreaterThan(8)
    const page = pageAt('docs/headers.md')
    expect([...names].filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([])
  })

  test('every client has a page that is listed, and says what to set, what was tried and what to know', async () => {
    const names = await readdir(join(root, 'docs/clients'))
    expect(names.length).toBeGreaterThan(15)
    const list = pageAt('docs/connect.md')
    expect(names.filter((name) => !list.includes(`](clients/${name})`))).toEqual([])
    const headings = (name: string) => found(pageAt(`docs/clients/${name}`), /^## (.*)$/gm).join(' ')
    expect(names.filter((name) => headings(name) !== 'Set Tried Know')).toEqual([])
  })

  test('CONTRIBUTING says what every folder of src holds', async () => {
    const page = pageAt('CONTRIBUTING.md')
    expect((await foldersOf('src')).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test('the glossary has every header, metric and event', async () => {
    const page = pageAt('docs/glossary.md').toLowerCase()
    const words = new Set(
      [page, page.replaceAll('x-foldgate-', '')].flatMap((text) => text.split(/[^a-z-]+/)),
    )
    const headers = found(await sources(), /x-foldgate-([a-z-]+)/g)
    const metricWords = Object.keys(metricNames)
      .flatMap((name) => name.replace(/^foldgate_/, '').split('_'))
      .filter((word) => !ofPrometheus.has(singular(word)))
    const missing = [...headers, ...eventTypes, ...metricWords].filter(
      (name) => !words.has(name) && !words.has(singular(name)) && !words.has(`${name}s`),
    )
    expect([...new Set(missing)]).toEqual([])
  })

  test('README and decisions fit into some minutes; every metric and every error but the catch-all is explained', () => {
    expect(pageAt('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_000)
    const decisions = pages.filter(({ path }) => path.startsWith('docs/decisions/'))
    expect(decisions.length).toBeGreaterThan(4)
    expect(decisions.filter(({ text }) => text.split(/\s+/).length > 450).map(({ path }) => path)).toEqual([])
    const unnamed = (page: string, names: object) =>
      Object.keys(names).filter((name) => !pageAt(page).includes(`\`${name}\``))
    expect(unnamed('docs/observability.md', metricNames)).toEqual([])
    expect(unnamed('docs/edges.md', httpStatusOf)).toEqual(['internal_error'])
  })

  test('llms.txt has its form: a title, a summary, and lists of links with a line each, to every page of docs', async () => {
    const text = await readFile(join(root, 'llms.txt'), 'utf8')
    const [title, summary, ...rest] = text.split('\n').filter((line) => line !== '')
    expect(title).toMatch(/^# Foldgate$/)
    expect(summary).toMatch(/^> \S/)
    const lists = rest.slice(rest.findIndex((line) => line.startsWith('## ')))
    expect(lists.filter((line) => !/^## \S|^- \[[^\]]+\]\([^)\s]+\): \S/.test(line))).toEqual([])
    expect(await brokenLinks({ path: 'llms.txt', text })).toEqual([])
    const linked = found(text, /\]\(([^)\s]+)\)/g)
    expect(linked).toEqual([...new Set(linked)])
    const wanted = pages.filter(({ path }) => path.startsWith('docs/')).map(({ path }) => path)
    expect(wanted.filter((path) => !linked.includes(path))).toEqual([])
  })

  test('every promise names a test file', () => {
    const promises = pageAt('docs/promises.md').split(/^### /m).slice(1)
    expect(promises.map((text, index) => text.startsWith(`P${index + 1}.`))).toEqual(Array(13).fill(true))
    expect(promises.filter((text) => !/\]\(\.\.\/test\/[\w/-]+\.test\.ts\)/.test(text))).toEqual([])
  })
})

// A page on security that nobody can hold to its word is worth as little as none. Each claim names what would fail if it
// were not true.
describe.each(['SECURITY.md', 'docs/privacy.md', 'docs/anthropic-gateway.md'])('%s', (path) => {
  test('names a test that is there for each thing that it claims', async () => {
    const text = await readFile(join(root, path), 'utf8')
    const claims = claimsIn(text)
    expect(claims.length).toBeGreaterThan(10)
    expect(claims.filter((claim) => !/\btest\/[\w/.-]+/.test(claim))).toEqual([])
    const named = [...text.matchAll(/\btest\/[\w/-]+(?:\.test)?(?:\.ts)?/g)].map(([name]) => name)
    expect(named.length).toBeGreaterThan(20)
    expect(await missingOf(named)).toEqual([])
  })
})

/** Flags of other programs that the pages speak of. */
const flagsOfOthers =
  'model ctx-size max-model-len max-chat-history-tokens build rm settings auth-type without'.split(' ')

/** Words that say in what a metric is counted, and of what. */
const ofPrometheus = new Set('total second info build beyond prompt call added first byte event'.split(' '))

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '')

/** The last name of every folder below this one. */
async function foldersOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

const isFile = (word: string): boolean => /\.(?:ts|js|md|ya?ml|json)$/.test(word)

/** List items, rows of tables but for their heads, and sections that have neither. */
const claimsIn = (text: string): readonly string[] =>
  text
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
