import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { calling, result, said, sizeInWords, wordsNamed } from '../fidelity/hand-made.ts'
import { madeRecording } from '../harness/recordings.ts'
import { openState } from './state.ts'
import { viewsOf, type ViewRow } from './views.ts'
import { labelsOf, newestRoundOf, saidPieces } from './written.ts'

const messages = [
  said('system', 'Be brief.'),
  said('user', 'Mend it.'),
  ...Array.from({ length: 8 }, (_, round) => [
    calling(`${round}`),
    result(`${round}`, wordsNamed(`seen${round}x`, 50)),
  ]).flat(),
]
const recording = madeRecording('made', 'one', messages)

test('decided by history are tokens of words that only what is before the newest round has', () => {
  const history = [said('user', 'Mend parser.ts'), said('assistant', 'I saw alpha'), said('tool', 'beta')]
  const labels = labelsOf({
    pieces: saidPieces(said('assistant', 'so parser, alpha, gamma').message),
    tokensOf: (piece) => piece.match(/.{1,3}/g) ?? [],
    history: history.map(({ message }) => message),
    newestRound: newestRoundOf(history).map(({ message }) => message),
  })
  // so |par|ser|, a|lph|a, |gam|ma
  expect(labels.map(({ isDecided }) => isDecided)).toEqual([
    false,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
})

test('nothing is system, task and newest round; the stranger adds what another conversation says, within the budget', async () => {
  const view = async (name: string, budgetTokens = 400) => {
    const row: ViewRow = { kind: 'policy', name }
    const inputAt = (point: number) => {
      return { messages: messages.slice(0, point), budgetTokens, sizeOf: sizeInWords }
    }
    const stranger = [said('user', 'Else.'), ...[1, 2, 3].map((at) => said('assistant', `Word ${at}.`))]
    const room = { windowTokens: 0, reserveTokens: 0 }
    const views = await viewsOf({ row, recording, points: [14], stranger, inputAt, room, count: () => 0 })
    return views.get(14)
  }
  const [head, newest] = [messages.slice(0, 2), messages.slice(12, 14)]
  expect(await view('nothing')).toEqual([...head, ...newest])
  expect((await view('stranger'))?.map(({ message }) => message['content'])).toEqual(
    [...head, ...[1, 2, 3].map((at) => said('assistant', `Word ${at}.`)), ...newest].map(
      ({ message }) => message['content'],
    ),
  )
  expect((await view('stranger', 80))?.slice(2)).toEqual([said('assistant', 'Word 3.'), ...newest])
  expect(await view('quick 0.7', 300)).not.toEqual(messages.slice(0, 14))
})

test('a run that was stopped goes on: what was scored is known, and half of a line is not', async () => {
  const file = join(await temporaryFolder({}), 'state.jsonl')
  openState(file).add({ key: 'a', logProbabilities: [-1.5, -0.25] }, { row: 'truncate' })
  appendFileSync(file, '{"key":"b","logProb')
  const state = openState(file)
  expect(state.get('a')).toEqual({ key: 'a', logProbabilities: [-1.5, -0.25] })
  expect(state.get('b')).toBeNull()
  state.add({ key: 'b', logProbabilities: [-2] }, {})
  expect(openState(file).get('b')).toEqual({ key: 'b', logProbabilities: [-2] })
  expect(readFileSync(file, 'utf8').split('\n')[0]).toContain('"row":"truncate"')
})
