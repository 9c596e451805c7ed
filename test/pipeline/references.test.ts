import { describe, expect, test } from 'vitest'
import { standWith } from '../support/stand.ts'
import { times } from '../support/times.ts'
import { wires, type Step, type Wire } from '../support/three-wires.ts'

// Claude Code, told to "refer to that earlier result", could never see its file again: of ten files that it read anew, ten
// were nowhere in what the model received.

const sayings = [
  'Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.',
  '[File part.py unchanged since last read in this session — the full content was provided earlier in this conversation. If you cannot retrieve that prior content (e.g. after context compaction), re-read with explicit offset/limit to fetch current content.]',
  '{"status": "unchanged", "message": "File unchanged since last read. The content from the earlier read_file result in this conversation is still current — refer to that instead of re-reading.", "dedup": true, "content_returned": false}',
]

const fileText = (file: number): string =>
  times(60, (line) => `${line + 1}\tdef part_${file}_${line}(value): return ${file * 1000 + line}`).join('\n')

const read = (id: string, file: number, result: string): Step => ({
  id,
  tool: 'Read',
  given: { file_path: `/repo/part_${file}.py` },
  result,
})

const FILES = 14
const steps: readonly Step[] = [
  { user: 'Make the parser accept empty lines.' },
  ...times(FILES, (file) => read(`call_${file}`, file, fileText(file))),
  ...times(6, (file) => read(`again_${file}`, file, sayings[file % sayings.length] ?? '')),
  ...times(6, (file) => read(`more_${file}`, FILES + file, fileText(FILES + file))),
]

/** Sends the conversation as it grows; the bodies that the upstream received, by how many steps the client had sent. */
async function live({ path, body, answer }: Wire, windowTokens: number, given = steps) {
  await using at = await standWith((request) => answer(Math.ceil(request.body.length / 4)), {
    profile: { window: { tokens: windowTokens } },
  })
  const actions: (string | null)[] = []
  for (let count = 1; count <= given.length; count += 1) {
    const answered = await fetch(`${at.url}${path}`, { method: 'POST', body: body(given.slice(0, count)) })
    expect(answered.status).toBe(200)
    actions.push(answered.headers.get('x-foldgate-action'))
    await answered.text()
  }
  return { actions, received: at.upstream.requests.map((request) => request.body) }
}

describe.each(wires)('in $name, a file that is read again', (wire) => {
  test('is whole in the request that follows, and keeps its bytes until it is cleared or folded', async () => {
    const { received } = await live(wire, 9_000)
    expect(received).toHaveLength(steps.length)
    for (const file of times(6, (each) => each)) {
      const at = 1 + FILES + file
      const standing = received.slice(at).map((body) => wire.results(body).get(`again_${file}`))
      const holders = [...wire.results(received[at] ?? Buffer.alloc(0)).values()].filter((result) =>
        result.includes(fileText(file)),
      )
      // One text is enough: whole where it stands still, else in the place of what refers to it.
      expect(holders).toHaveLength(1)
      const changes = standing.filter((text, place) => place === 0 || text !== standing[place - 1])
      expect(new Set(changes).size).toBe(changes.length)
    }
    const resolved = received
      .flatMap((body) => [...wire.results(body).entries()])
      .filter(([id, text]) => id.startsWith('again_') && text.includes('def part_'))
    expect(resolved.length).toBeGreaterThan(6)
    for (const [, text] of resolved) expect(text.split('\n')[0]).toBe(RESOLVED_LINE)
  })

  test('is left as it came in a window that holds all of it', async () => {
    const { actions, received } = await live(wire, 128_000)
    expect(new Set(actions)).toEqual(new Set(['relayed']))
    expect(received.at(-1)?.toString()).toBe(wire.body(steps))
  })
})

const RESOLVED_LINE = '[unchanged since the earlier call, whose result is repeated here]'

const [chat] = wires

const edit = (result: string): Step => ({
  id: 'edit',
  tool: 'Edit',
  given: { file_path: '/repo/part_0.py', old_string: 'a', new_string: 'b' },
  result,
})

describe('what is no reference', () => {
  const noise = times(FILES, (file) => read(`call_${file}`, file, fileText(file)))

  test.each([
    ['of another call', { id: 'x', tool: 'Read', given: { file_path: '/repo/other.py' } }, sayings[0] ?? ''],
    ['with something of its own to say', noise[0], '3 passed; status unchanged since the last read'],
    ['that quotes such words', noise[0], 'read.ts: return "File unchanged since last read"'],
    ['that is long', noise[0], `${sayings[0]}\n${'And more. '.repeat(80)}`],
  ])('a result %s is sent as it came', async (_, call, result) => {
    if (chat === undefined || call === undefined || 'user' in call) throw new Error('no call')
    const asked: Step = { ...call, id: 'again', result }
    const { actions, received } = await live(chat, 8_000, [{ user: 'Begin.' }, ...noise, asked])
    expect(actions.at(-1)).toBe('compacted')
    expect(chat.results(received.at(-1) ?? Buffer.alloc(0)).get('again')).toBe(result)
  })

  test('a file that was changed since is not told as it was, but one whose change failed is', async () => {
    if (chat === undefined) throw new Error('no wire')
    const again = read('again', 0, sayings[0] ?? '')
    for (const [told, isResolved] of [
      ['The file has been updated.', false],
      ['Error: old_string was not found in the file.', true],
    ] as const) {
      const { received } = await live(chat, 8_000, [{ user: 'Begin.' }, ...noise, edit(told), again])
      const text = chat.results(received.at(-1) ?? Buffer.alloc(0)).get('again')
      expect(text?.includes(fileText(0))).toBe(isResolved)
    }
  })
})
