import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './pages.ts'

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
