import { expect, test } from 'vitest'
import { standWith } from '../support/stand.ts'
import { times } from '../support/times.ts'
import { wires, type Step } from '../support/three-wires.ts'

const words = (seed: number, count: number): string =>
  times(count, (place) => `word${(seed * 7_919 + place * 104_729) % 9_973}`).join(' ')

const rounds = (from: number, count: number): Step[] =>
  times(count, (place) => ({
    id: `call_${from + place}`,
    tool: 'look',
    given: { at: from + place },
    result: words(from + place, 150),
  }))

const rule = 'Never push to the branch "release/7".\nAsk first, <every> time.'

test.each(wires)(
  'what stands between <keep> marks is in every view, word for word, in $name',
  async ({ path, body, answer }) => {
    await using at = await standWith((request) => answer(Math.ceil(request.body.length / 4)), {
      profile: { window: { tokens: 5_000 } },
    })
    const steps: Step[] = [
      { user: 'Begin.' },
      ...rounds(0, 2),
      { user: `${words(1, 200)} <keep>${rule}</keep> ${words(2, 200)}` },
      ...rounds(2, 30),
      { user: 'And now?' },
      ...rounds(32, 10),
    ]
    let folded = 0
    for (let count = 4; count <= steps.length; count += 1) {
      const answered = await fetch(`${at.url}${path}`, { method: 'POST', body: body(steps.slice(0, count)) })
      await answered.text()
      if (answered.headers.get('x-foldgate-passes')?.includes('fold') === true) folded += 1
    }
    expect(folded).toBeGreaterThan(10)
    const sent = JSON.stringify(rule).slice(1, -1)
    for (const { body: received } of at.upstream.requests) expect(received.toString()).toContain(sent)
  },
)

test('of more than an eighth of the room the newest is kept, and the log says so', async () => {
  const [chat] = wires
  if (chat === undefined) throw new Error('no wire')
  await using at = await standWith((request) => chat.answer(Math.ceil(request.body.length / 4)), {
    profile: { window: { tokens: 5_000 } },
  })
  const kept = times(12, (place): Step => ({
    user: `<keep>rule ${place}: ${words(place, 20)}</keep> ${words(place + 50, 60)}`,
  }))
  const steps = [{ user: 'Begin.' }, ...kept, ...rounds(0, 30)]
  await (await fetch(`${at.url}${chat.path}`, { method: 'POST', body: chat.body(steps) })).text()
  const received = at.upstream.requests.at(-1)?.body.toString() ?? ''
  expect(received).toContain(`rule 11: ${words(11, 20)}`)
  expect(received).not.toContain(`- rule 0: ${words(0, 20)}`)
  expect(at.foldgate.log.join('\n')).toContain('between <keep> and </keep>')
  expect(at.foldgate.log.join('\n')).not.toContain('word')
})
