import { expect, test } from 'vitest'
import { runsOf } from './runs.ts'
import { textsIn } from './texts.ts'

const script = 'cat <<EOF > a.py\nprint("one two three")\nfour five six\nEOF'
const writing = calling(JSON.stringify({ command: script }))

test('arguments are read as the text that they decode to, without their keys', () => {
  expect(textsIn(writing)).toEqual([script])
  expect(textsIn(calling('{"file_path":"a.py","lines":[120,{"to":"the end"}]}'))).toEqual([
    'a.py',
    '120',
    'the end',
  ])
})

test('arguments that are no JSON are read as they stand', () => {
  expect(textsIn(calling('{"command":"ls'))).toEqual(['{"command":"ls'])
})

test('a recap holds the words of a call in its decoded form and as the JSON that it was', () => {
  const runs = runsIn(writing)
  expect(runs.size).toBe(6)
  const decoded = runsIn({ role: 'user', content: `It was written:\n${script}\nand run` })
  expect(runs.isSubsetOf(decoded)).toBe(true)
  const quoted = JSON.stringify({ command: script })
  const raw = runsIn({ role: 'user', content: `assistant called bash(${quoted})` })
  // The first and the last words stand against the quotes of the JSON.
  expect([...runs].filter((run) => !raw.has(run))).toEqual(
    [...runs].filter((run) => run.startsWith('cat') || run.endsWith('EOF')),
  )
})

test('runs end where a text ends', () => {
  const message = { role: 'user', content: [text('one two three'), text('four five six')] }
  expect(runsIn(message)).toEqual(new Set())
  const both = { ...calling('{"command":"four five six"}'), content: 'one two three' }
  expect(runsIn(both)).toEqual(new Set())
})

test('blanks of any kind and number are one', () => {
  expect(runsOf('a  b\n\tc d e f g')).toEqual(new Set(['a b c d e f', 'b c d e f g']))
})

// --- internal ---

function calling(argumentsText: string) {
  const call = { id: 'a', type: 'function', function: { name: 'bash', arguments: argumentsText } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

function text(content: string) {
  return { type: 'text', text: content }
}

function runsIn(message: Parameters<typeof textsIn>[0]): ReadonlySet<string> {
  return new Set(textsIn(message).flatMap((each) => [...runsOf(each)]))
}
