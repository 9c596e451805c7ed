import { expect, test } from 'vitest'
import { said } from './hand-made.ts'
import { held, openReader, openSight, textsIn, thingsOf, wantedOf } from './wanted.ts'

type Message = ReturnType<typeof said>

test.each([
  ['a path', 'see ./src/app/main.ts, line 12', 'src/app/main.ts'],
  ['an absolute path', 'in /testbed:', '/testbed'],
  ['an id', 'order ORD-88213 is late', 'ORD-88213'],
  ['a commit', 'since 7f7a364.', '7f7a364'],
  ['a number of three digits', 'exit code: 137.', '137'],
  ['an e-mail address', 'ask <ann.lee@example.org>', 'ann.lee@example.org'],
  ['inner capitals', 'call readFile()', 'readFile'],
  ['an underscore', '`xfailed_key`', 'xfailed_key'],
  ['dots', 'item.config.option', 'item.config.option'],
  ['no thing', 'The answer, e.g. <output>yes</output>, was 42 or 3.5; sed -i 7 /d. Done.', null],
  ['data', 'aB_9'.repeat(100), null],
])('a thing: %s', (_, text, thing) => {
  expect([...thingsOf(text)]).toEqual(thing === null ? [] : [thing])
})

const script = 'cat <<EOF > a.py\nprint("one two three")\nfour five six\nEOF'
const writing = calling(JSON.stringify({ command: script }))

test('arguments are read as the text that they decode to, without keys; what is no JSON, as it stands', () => {
  expect(textsIn(writing)).toEqual([script])
  const mixed = calling('{"file_path":"a.py","lines":[120,{"to":"the end"}]}')
  expect(textsIn(mixed)).toEqual(['a.py', '120', 'the end'])
  expect(textsIn(calling('{"command":"ls'))).toEqual(['{"command":"ls'])
})

const task = said('user', 'Mend the parser in src/parser.ts, please.')
const result = said('tool', 'src/lexer.ts: error 4711 at the very end of this line')
const cleared = said('tool', 'cleared')
const next = said('assistant', 'So src/parser.ts and src/lexer.ts: "error 4711 at the very end", newName.')

test('only what the history holds can be lost, and far is what the newest suffix has lost', () => {
  const wanted = wantedOf(read(next), sightOf(task, result), sightOf(result))
  expect(wanted.things.toSorted()).toEqual(['4711', 'src/lexer.ts', 'src/parser.ts'])
  expect(wanted.far).toEqual(['src/parser.ts'])
  expect(held(wanted, sightOf(task, result))).toMatchObject({ things: 3, thingsHeld: 3, farThingsHeld: 1 })
  expect(held(wanted, sightOf(task, cleared))).toMatchObject({ things: 3, thingsHeld: 1, farThingsHeld: 1 })
  expect(held(wanted, sightOf(result))).toMatchObject({ farThings: 1, farThingsHeld: 0 })
})

test('wording is held word for word or not at all', () => {
  const repeating = said('assistant', 'It says: error 4711 at the very end of this line')
  const wanted = wantedOf(read(repeating), sightOf(result), sightOf())
  const excerpt = said('user', 'error 4711 at the very end of')
  expect(held(wanted, sightOf(excerpt))).toMatchObject({ runs: 4, runsHeld: 2 })
})

function calling(argumentsText: string) {
  const call = { id: 'a', type: 'function', function: { name: 'bash', arguments: argumentsText } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

const read = (written: Message) => openReader()(written)

function sightOf(...messages: readonly Message[]) {
  const sight = openSight()
  sight.show(messages.map(openReader()))
  return sight
}
