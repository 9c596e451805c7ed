import { describe, expect, test } from 'vitest'
import type { MessageTreatment } from '../../../src/compaction/outline.ts'
import { createHeldContent } from '../../../src/telemetry/conversations/shown-messages.ts'
import type { HeldMessages } from '../../../src/telemetry/request-report.ts'
import { isCollected } from '../../support/eventually.ts'
import { idOf } from '../rows.ts'

const MEGABYTE = 1024 * 1024

const message = (other: Partial<MessageTreatment> = {}): MessageTreatment => ({
  index: 0,
  role: 'user',
  kind: null,
  tool: null,
  treatment: 'kept',
  pinned: null,
  receivedTokens: 4,
  sentTokens: 4,
  standsFor: null,
  ...other,
})

/** Messages with these texts, as they came and as they were sent. */
function heldOf(
  texts: readonly { readonly received: string | null; readonly sent: string | null }[],
  { bytes = 100, outlineBytes = 10 } = {},
): HeldMessages {
  const treatments = texts.map((_, index) => message({ index }))
  return {
    outline: {
      read: () => treatments,
      entryName: 'message',
      byteSizes: () => texts.map(({ received }) => received?.length ?? 0),
      around: { tools: { tokens: null, bytes: 0 }, system: { tokens: null, bytes: 0 } },
      bytes: outlineBytes,
    },
    texts: () => texts.map((text) => ({ receivedText: null, sentText: null, calls: [], ...text })),
    opening: () => ({ words: texts[0]?.received ?? null, folder: null }),
    bytes,
  }
}

const planted = '{"role":"user","content":"PLANTED"}'
const hello = { received: planted, sent: planted }

/** Contents that hold so much of these conversations, one after the other. */
function holding(
  showsContent: boolean,
  ...held: readonly (readonly [conversation: number, held: HeldMessages])[]
) {
  const content = createHeldContent({ showsContent })
  for (const [number, messages] of held) content.hold(idOf(number), messages)
  return content
}

describe('where texts may not be shown', () => {
  test('they are not kept in memory either', async () => {
    const content = createHeldContent({ showsContent: false })
    const body = new WeakRef({ text: 'PLANTED'.repeat(1_000) })
    // By a function of its own: nothing on the stack of this one is to keep it.
    function holdIt(): void {
      const kept = body.deref()
      content.hold(idOf(1), {
        ...heldOf([hello]),
        texts: () => [
          { received: kept?.text ?? null, sent: null, receivedText: null, sentText: null, calls: [] },
        ],
      })
    }
    holdIt()
    expect(await isCollected(body)).toBe(true)
    expect(content.shown(idOf(1)).messages).toHaveLength(1)
  })
})

const before = heldOf([{ received: 'before', sent: 'before' }])

describe('where they may', () => {
  test('long ones are cut, and say how much is missing', () => {
    const content = holding(true, [1, heldOf([{ received: 'x'.repeat(20_000), sent: 'x'.repeat(20_123) }])])
    const [shown] = content.shown(idOf(1)).messages ?? []
    expect(shown?.received).toBe('x'.repeat(20_000))
    expect(shown?.sent).toBe(`${'x'.repeat(20_000)}… (123 more characters)`)
  })

  test('a body that is too large to be held takes its texts along, not the figures', () => {
    const content = holding(true, [1, before], [1, heldOf([hello], { bytes: 65 * MEGABYTE })])
    expect(content.shown(idOf(1)).messages).toMatchObject([{ ...message(), received: null, sent: null }])
  })

  test('so many bytes are held together; of what goes first the figures stay', () => {
    const content = createHeldContent({ showsContent: true })
    for (const number of [1, 2, 3]) content.hold(idOf(number), heldOf([hello], { bytes: 30 * MEGABYTE }))
    const texts = [1, 2, 3].map((number) => content.shown(idOf(number)).messages?.[0]?.received)
    expect(texts).toEqual([null, hello.received, hello.received])
  })
})

test('what is held is of two hundred conversations, has a bound in bytes, and is gone when it is forgotten', () => {
  const content = createHeldContent({ showsContent: false })
  for (let number = 0; number < 201; number += 1) content.hold(idOf(number), heldOf([hello]))
  content.forget(idOf(2))
  expect([0, 1, 2].map((number) => content.shown(idOf(number)).messages === null)).toEqual([
    true,
    false,
    true,
  ])
  const large = createHeldContent({ showsContent: false })
  for (const number of [1, 2]) large.hold(idOf(number), heldOf([hello], { outlineBytes: 20 * MEGABYTE }))
  expect([1, 2].map((number) => large.shown(idOf(number)).messages === null)).toEqual([true, false])
  // One that is larger than the bound leaves nothing of the one before.
  large.hold(idOf(2), heldOf([hello, hello], { outlineBytes: 33 * MEGABYTE }))
  expect(large.shown(idOf(2)).messages).toBeNull()
})
