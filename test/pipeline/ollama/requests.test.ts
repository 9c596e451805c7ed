import { describe, expect, test } from 'vitest'
import {
  bodyOf,
  chatBody,
  chatsAt,
  openStand,
  post,
  replyIn,
  roundsOf,
  user,
  WINDOW_TOKENS,
} from './stand.ts'

/** Past a window of 4,096 by half. */
const long = [user('Read every part.'), ...roundsOf(10)]
const short = [user('Read every part.'), ...roundsOf(1)]
const asking = { truncate: false, shift: false }

const ways = [
  { how: 'plain', form: { stream: false } },
  { how: 'streamed, as who does not say so', form: {} },
]

describe.each(ways)('$how', ({ form }) => {
  test('what exceeds its num_ctx is compacted, and arrives with the wish for an error', async () => {
    const stand = await openStand()
    const answer = await post(stand, chatBody(long, form))
    expect(replyIn(answer)).toMatchObject({ message: { content: 'Done.' }, done: true })
    expect(answer.headers.get('x-foldgate-action')).toMatch(/^compacted/)
    expect(answer.headers.get('x-foldgate-window')).toBe('4096;source=request')
    const [sent, ...more] = chatsAt(stand)
    expect(more).toEqual([])
    expect(sent && bodyOf(sent)).toMatchObject({ ...asking, options: { num_ctx: WINDOW_TOKENS } })
    expect(sent?.promptTokens).toBeLessThan(WINDOW_TOKENS)
    expect(sent?.dropped).toEqual([])
  })

  test('what surely fits arrives byte for byte', async () => {
    const stand = await openStand()
    const body = `  ${chatBody(short, { ...form, keep_alive: '5m', x: '\u00e4' })}\n`
    expect((await post(stand, body)).status).toBe(200)
    expect(chatsAt(stand).map((sent) => sent.body.toString())).toEqual([body])
  })

  // A token of this server has two characters and a half, which Foldgate has yet to learn.
  test('an error for a prompt that is too long after all is recovered from', async () => {
    const stand = await openStand({ count: (text) => Math.ceil(text.length / 2.5) })
    const answer = await post(stand, chatBody([user('Read every part.'), ...roundsOf(4)], form))
    expect(replyIn(answer)).toMatchObject({ message: { content: 'Done.' }, done: true })
    expect(answer.headers.get('x-foldgate-action')).toMatch(/^recovered/)
    const all = chatsAt(stand)
    expect(all[0]?.rejected?.message).toBe('the input length exceeds the context length')
    expect(all.at(-1)?.rejected).toBeNull()
    expect(all.map(bodyOf)).toMatchObject(all.map(() => asking))
  })

  test('a server that refuses the wish as unknown gets the same request without, and the client its answer', async () => {
    const stand = await openStand({ unknownFields: ['truncate'] })
    const answer = await post(stand, chatBody(long, form))
    expect(replyIn(answer)).toMatchObject({ message: { content: 'Done.' }, done: true })
    const [refused, accepted, ...more] = chatsAt(stand).map(bodyOf)
    expect(more).toEqual([])
    expect(refused).toEqual({ ...accepted, ...asking })
  })
})

// A model has less than its client asks for, and the server says so in /api/ps. Its refusals have no numbers: a guess was made of
// each, and a conversation that grew was refused again and again, until the guesses came down to what the server had said.
test('what a server says that it has loaded is believed once it has refused a prompt that it was asked to hold', async () => {
  const stand = await openStand({ loadsAtMost: WINDOW_TOKENS })
  const windows = await growing(stand, 14)
  expect(chatsAt(stand).filter(({ rejected }) => rejected !== null)).toHaveLength(1)
  expect(windows.at(-1)).toBe('4096;source=server')
})

test.each([
  ['the operator does not want it', {}, { ollama: { ask_for_errors: false } }],
  ['the client says what it wants', { truncate: true }, {}],
])('no error is asked for where %s', async (_, more, settings) => {
  const stand = await openStand({ settings })
  expect((await post(stand, chatBody(long, more))).status).toBe(200)
  const [sent] = chatsAt(stand)
  expect(sent?.promptTokens).toBeLessThan(WINDOW_TOKENS)
  const { truncate, shift } = sent ? bodyOf(sent) : {}
  expect({ truncate, shift }).toEqual({ truncate: undefined, shift: undefined, ...more })
})

/** An agent that asks for more than the server loads, round by round; of each answer the window that it was given. */
async function growing(stand: Awaited<ReturnType<typeof openStand>>, rounds: number) {
  const messages = [user('Read every part.')]
  const windows: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    messages.push(...roundsOf(1, round))
    const answer = await post(stand, chatBody(messages, { options: { num_ctx: 4 * WINDOW_TOKENS } }))
    expect(answer.status).toBe(200)
    windows.push(answer.headers.get('x-foldgate-window') ?? '')
  }
  return windows
}

const cutLines = ({ foldgate }: Awaited<ReturnType<typeof openStand>>) =>
  foldgate.log.filter((line) => line.includes('without saying so'))

// Ollama answers from what is left of a prompt, and says nothing: 160,689 tokens were sent, 16,387 read.
describe('a server that loads less than it is asked for and cuts prompts without a word', () => {
  test('is seen by what it counts: the cut is told, and what follows is compacted to what was seen', async () => {
    const stand = await openStand({ temperament: 'drops', loadsAtMost: WINDOW_TOKENS, statesWindows: false })
    const windows = await growing(stand, 14)
    const cut = chatsAt(stand).filter(({ dropped }) => dropped.length > 0)
    expect(cut.length).toBeGreaterThan(0)
    expect(cut.length).toBeLessThanOrEqual(3)
    expect(cutLines(stand)).toHaveLength(1)
    expect(chatsAt(stand).at(-1)?.dropped).toEqual([])
    expect(Number.parseInt(windows.at(-1) ?? '', 10)).toBeLessThanOrEqual(WINDOW_TOKENS)
  })

  test('is believed at once where it states what it has loaded', async () => {
    const stand = await openStand({ temperament: 'drops', loadsAtMost: WINDOW_TOKENS })
    const windows = await growing(stand, 14)
    // What others have loaded may differ from what this request asks for, until it is seen to cut.
    expect(chatsAt(stand).filter(({ dropped }) => dropped.length > 0)).toHaveLength(1)
    expect(chatsAt(stand).at(-1)?.dropped).toEqual([])
    expect(windows.at(-1)).toMatch(/^4096;/)
    expect(stand.foldgate.log.filter((line) => line.includes('options.num_ctx'))).toHaveLength(1)
  })
})
