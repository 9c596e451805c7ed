import { expect, test } from 'vitest'
import { openReader } from './reading.ts'
import { openSight, type Sight } from './sight.ts'
import { held, wantedOf } from './wanted.ts'

const task = said('user', 'Mend the parser in src/parser.ts, please.')
const result = said('tool', 'src/lexer.ts: error 4711 at the very end of this line')
const cleared = said('tool', 'cleared')
const next = said(
  'assistant',
  'So src/parser.ts and src/lexer.ts: "error 4711 at the very end", says newName.',
)

test('only what the history holds can be lost', () => {
  const { things } = wantedOf(read(next), sightOf(task, result), sightOf())
  expect(things.toSorted()).toEqual(['4711', 'src/lexer.ts', 'src/parser.ts'])
})

test('a thing that stands only in a cleared result is lost', () => {
  const wanted = wantedOf(read(next), sightOf(task, result), sightOf(result))
  expect(held(wanted, sightOf(task, result))).toMatchObject({ things: 3, thingsHeld: 3 })
  expect(held(wanted, sightOf(task, cleared))).toMatchObject({ things: 3, thingsHeld: 1 })
})

test('far is what the newest suffix has lost', () => {
  const wanted = wantedOf(read(next), sightOf(task, result), sightOf(result))
  expect(wanted.far).toEqual(['src/parser.ts'])
  expect(held(wanted, sightOf(task, cleared))).toMatchObject({ farThings: 1, farThingsHeld: 1 })
  expect(held(wanted, sightOf(result))).toMatchObject({ farThings: 1, farThingsHeld: 0 })
})

test('wording is held word for word or not at all', () => {
  const repeating = said('assistant', 'It says: error 4711 at the very end of this line')
  const wanted = wantedOf(read(repeating), sightOf(result), sightOf())
  const excerpt = said('user', 'error 4711 at the very end of')
  expect(held(wanted, sightOf(excerpt))).toMatchObject({ runs: 4, runsHeld: 2 })
})

test('what is shown anew replaces what was shown before', () => {
  const sight = sightOf(task, result, result)
  sight.show([read(task), read(cleared)])
  expect(sight.names('src/parser.ts')).toBe(true)
  expect(sight.names('src/lexer.ts')).toBe(false)
})

// --- internal ---

type Said = { readonly text: string; readonly message: { readonly role: string; readonly content: string } }

function said(role: string, content: string): Said {
  const message = { role, content }
  return { text: JSON.stringify(message), message }
}

function read(written: Said) {
  return openReader()(written)
}

function sightOf(...messages: readonly Said[]): Sight {
  const sight = openSight()
  sight.show(messages.map(openReader()))
  return sight
}
