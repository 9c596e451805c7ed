import { expect } from 'vitest'
import type { OnEnd } from '../../../config/temporary-folder.ts'
import { eventually } from '../../../support/eventually.ts'
import { completion } from '../../../support/fake-upstream.ts'
import type { Fault, Row } from '../fault.ts'
import { seenText } from '../seen-text.ts'
import { ask, type Seen } from '../wire/ask.ts'
import { goodAnswer, textOfAnswer } from '../wire/good-answer.ts'
import { holdingUpstream, kindOf, LOAD, PLACES, underLoad } from './load.ts'
import { linesOf } from './program-stand.ts'

/** Signals that meet a program with streams under way and requests in line for the upstream. */
export const signalFaults: readonly Fault[] = [
  {
    name: 'SIGTERM under load',
    observe: (onEnd) => observe({ timeoutS: 20, code: 0, meanwhile: ({ release }) => release(), onEnd }),
  },
  {
    name: 'SIGTERM under load, and answers outlive `drain.timeout_s`',
    observe: (onEnd) => observe({ timeoutS: 0, code: 0, meanwhile: () => {}, onEnd }),
  },
  {
    name: 'SIGTERM under load, and another one',
    observe: (onEnd) => observe({ timeoutS: 60, code: 1, meanwhile: ({ signal }) => signal(), onEnd }),
  },
]

// --- internal ---

type Ending = {
  /** `drain.timeout_s`. */
  readonly timeoutS: number
  /** The program's exit code. */
  readonly code: number
  readonly onEnd: OnEnd
  /** What happens once it has begun to end. */
  readonly meanwhile: (acts: { readonly release: () => void; readonly signal: () => void }) => void
}

async function observe({ timeoutS, code, meanwhile, onEnd }: Ending): Promise<readonly Row[]> {
  await using holding = await holdingUpstream(completion('Understood.'))
  const { foldgate, running } = await underLoad(holding, timeoutS, onEnd)
  foldgate.child.kill('SIGTERM')
  await foldgate.said(/shutting down/)
  const newcomer = await eventually(async () => {
    const seen = await ask(foldgate.url, kindOf('plain'))
    expect(seen.status, 'an answer to a newcomer').toBeNull()
    return seen
  })
  meanwhile({ release: holding.release, signal: () => void foldgate.child.kill('SIGTERM') })
  const seen = await Promise.all(running)
  expect(await foldgate.ended).toBe(code)

  const begun = seen.filter(({ status }) => status !== null)
  const unbegun = seen.filter(({ status }) => status === null)
  // Whoever was sent on has seen so; nobody else was.
  const sentOn = holding.upstream.requests.filter(({ body }) => body.includes('"stream":true'))
  expect(sentOn).toHaveLength(begun.length)
  expect([PLACES, LOAD]).toContain(begun.length)
  const cutOff = linesOf(foldgate).some((line) => line.includes('drain.timeout_s'))
  const recorded = `exit ${code}${cutOff ? '<br>log `warn` requests were cut off' : ''}`
  const begunText = begun.length === LOAD ? 'streamed, under way or in line' : 'streamed, under way'
  return [
    { met: begunText, seen: oneText(begun), recorded, lost: lostOf(begun) },
    ...(unbegun.length === 0
      ? []
      : [
          { met: 'streamed, in line', seen: oneText(unbegun), recorded, lost: 'nothing: it was not sent on' },
        ]),
    { met: 'on a new connection', seen: oneText([newcomer]), recorded, lost: 'nothing: it was not sent on' },
  ]
}

/** What all of them saw. */
function oneText(seen: readonly Seen[]): string {
  const texts = [...new Set(seen.map(seenText))]
  expect(texts).toHaveLength(1)
  return texts.join()
}

function lostOf(seen: readonly Seen[]): string {
  const whole = textOfAnswer(goodAnswer(kindOf('streamed')))
  const isWhole = seen.every(({ isWhole: each, body }) => each && body.toString() === whole)
  if (isWhole) return 'nothing'
  // What came before the end is there, and what is missing shows.
  for (const { isWhole: each, body } of seen)
    expect([each, whole.startsWith(body.toString())]).toEqual([false, true])
  return 'the rest of the answer: the cut shows'
}
