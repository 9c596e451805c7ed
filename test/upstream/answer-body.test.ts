import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { AnswerBody, madeBody, GivenUpError } from '../../src/upstream/answer-body.ts'

/** A body with its source, and what a reader is told of it. */
function opened() {
  const told: string[] = []
  const asked: string[] = []
  const body = new AnswerBody({
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
    abort: () => asked.push('abort'),
  })
  const reader = {
    piece: (piece: Buffer) => void told.push(piece.toString()),
    end: () => void told.push('end'),
    broken: (error: unknown) => void told.push(error instanceof Error ? error.message : 'broken'),
  }
  return { body, told, asked, reader }
}

describe('what comes before anybody reads', () => {
  test('waits, and is given at once and in its order', () => {
    const { body, told, reader } = opened()
    body.feed(Buffer.from('a'))
    body.feed(Buffer.from('b'))
    body.finish()
    expect(body.isEnded).toBe(false)
    body.read(reader)
    expect(told).toEqual(['a', 'b', 'end'])
    expect(body.isEnded).toBe(true)
  })

  test('holds its source up once it is much, until it is read', () => {
    const { body, asked, reader } = opened()
    body.feed(Buffer.alloc(64 * 1024))
    expect(asked).toEqual(['pause'])
    body.read(reader)
    expect(asked).toEqual(['pause', 'resume'])
  })
})

describe('a reader', () => {
  test('that pauses within a piece gets no other before it goes on', () => {
    const { body, told, asked, reader } = opened()
    body.feed(Buffer.from('a'))
    body.feed(Buffer.from('b'))
    body.read({
      ...reader,
      piece: (piece) => {
        reader.piece(piece)
        body.pause()
      },
    })
    expect(told).toEqual(['a'])
    body.finish()
    body.resume()
    expect(told).toEqual(['a', 'b'])
    body.resume()
    expect(told).toEqual(['a', 'b', 'end'])
    expect(asked).toEqual(['pause'])
  })

  test('that goes leaves the rest to the next one', () => {
    const { body, told, reader } = opened()
    body.feed(Buffer.from('a'))
    body.read({ ...reader, piece: () => body.unread() })
    body.feed(Buffer.from('b'))
    body.read(reader)
    body.finish()
    expect(told).toEqual(['b', 'end'])
  })
})

describe('a body that breaks off', () => {
  test('gives what had come before', () => {
    const { body, told, reader } = opened()
    body.feed(Buffer.from('a'))
    body.fail(new Error('cut'))
    body.read(reader)
    expect(told).toEqual(['a', 'cut'])
  })

  test('throws nothing where nobody reads it', async () => {
    const { body } = opened()
    body.fail(new Error('cut'))
    await setTimeout(0)
    expect(body.isEnded).toBe(false)
  })

  test('because it was given up here tells its source, and its reader once', () => {
    const { body, told, asked, reader } = opened()
    body.read(reader)
    body.destroy()
    body.destroy()
    body.fail(new Error('aborted'))
    expect(told).toEqual([new GivenUpError().message])
    expect(asked).toEqual(['abort'])
  })
})

test('it is over when it was taken, given up or broke off, not when it has only come', () => {
  const over: string[] = []
  const [taken, givenUp, broken] = [opened(), opened(), opened()]
  for (const [name, { body }] of Object.entries({ taken, givenUp, broken }))
    body.onceOver(() => over.push(name))
  taken.body.feed(Buffer.from('a'))
  taken.body.finish()
  expect(over).toEqual([])
  taken.body.read(taken.reader)
  givenUp.body.destroy()
  broken.body.fail(new Error('cut'))
  expect(over).toEqual(['taken', 'givenUp', 'broken'])
})

test('everybody who wants to know that it is over is told, once and in order', () => {
  const over: string[] = []
  const { body } = opened()
  body.onceOver(() => over.push('first'))
  body.onceOver(() => over.push('second'))
  body.destroy()
  body.onceOver(() => over.push('late'))
  expect(over).toEqual(['first', 'second', 'late'])
})

test('whoever stops reading its pieces before the end gives it up', async () => {
  const { body, asked } = opened()
  body.feed(Buffer.from('a'))
  body.feed(Buffer.from('b'))
  for await (const piece of body) {
    expect(piece.toString()).toBe('a')
    break
  }
  expect(asked).toEqual(['abort'])
})

async function* brokenPieces(): AsyncGenerator<Buffer> {
  yield Buffer.from('some')
  throw new Error('no more')
}

describe('a body that is made here', () => {
  test('is asked for as it is read', async () => {
    let made = 0
    async function* pieces() {
      for (; made < 100; made += 1) yield Buffer.alloc(1024)
    }
    const { told, reader } = opened()
    const body = madeBody(pieces())
    await setTimeout(5)
    expect(made).toBe(0)
    body.read({
      ...reader,
      piece: (piece) => {
        reader.piece(piece)
        body.pause()
      },
    })
    await setTimeout(5)
    expect(told).toHaveLength(1)
    expect(made).toBe(0)
    body.resume()
    await setTimeout(5)
    expect(told).toHaveLength(2)
  })

  test('breaks off with what made it', async () => {
    const { told, reader } = opened()
    madeBody(brokenPieces()).read(reader)
    await setTimeout(5)
    expect(told).toEqual(['some', 'no more'])
  })
})

// A connection brings megabytes at a time where they are there: tens of thousands of short events were read in one go, and
// everybody else waited for 60 ms.
test('of megabytes that come at a time others have their turn in between', async () => {
  const { body, told, asked, reader } = opened()
  body.read(reader)
  const pieces = Array.from({ length: 16 }, (_, place) => String.fromCodePoint(97 + place).repeat(64 * 1024))
  for (const piece of pieces) body.feed(Buffer.from(piece))
  body.finish()
  const atOnce = told.length
  expect(atOnce).toBeLessThan(pieces.length / 2)
  expect(asked).toContain('pause')
  let turns = 0
  while (!body.isEnded && turns < 100) {
    await setImmediate()
    turns += 1
  }
  expect(turns).toBeGreaterThan(2)
  expect(told).toEqual([...pieces, 'end'])
})
