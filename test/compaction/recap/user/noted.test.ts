import { describe, expect, test } from 'vitest'
import { createMadeCache } from '../../../../src/compaction/made-cache.ts'
import { beginsNoting, notedShares } from '../../../../src/compaction/recap/user/noted.ts'
import { finish } from '../../../../src/conversation/source.ts'
import { subjectOf } from '../../../support/subject.ts'
import { assistant, prose, user } from '../../sending.ts'

/** Twenty turns, the replies to some of which begin with "Sure!". */
function chat(isNoted: (turn: number) => boolean): object[] {
  return Array.from({ length: 20 }, (_, turn) => [
    user(`Turn ${turn}.`),
    assistant(`${isNoted(turn) ? 'Sure! ' : ''}${prose(`This is long ${turn}`, 200)}`),
  ]).flat()
}

function sharesOf(messages: readonly object[]): ReadonlyMap<number, number> {
  const said = messages.flatMap((_, index) => (index % 2 === 0 ? [index] : []))
  const folded = new Set(messages.keys())
  return finish(notedShares(subjectOf(messages), said, folded, createMadeCache({ charsMax: 1e6 })))
}

describe('a reply that begins with a word of assent', () => {
  test.each([
    'Understood.',
    'Got it — two spaces from now on.',
    'Sure, I will leave the schema alone. And now to your question:',
    '**Noted!** The rest of the plan stays.',
    'Will keep that. The next step is the import.',
    'Alles klar, ab jetzt auf Deutsch.',
    '承知しました。今後は日本語で書きます。',
    'Понял, схему не трогаю.',
  ])('is told by its word or by how short its first sentence is: %s', (reply) => {
    expect(beginsNoting(reply)).toBe(true)
  })

  test.each([
    'A heat pump moves heat from one place to another.',
    'In practice, the queue is drained first.',
    'Besides, nothing else writes there.',
    '1. Stop the worker',
    '',
    '   ',
    '!!!',
  ])('is no answer to a question: %j', (reply) => {
    expect(beginsNoting(reply)).toBe(false)
  })
})

// Assistants that begin every reply with "Sure!" tell nothing by it.
test('says nothing where an assistant begins every reply so', () => {
  expect(sharesOf(chat((turn) => turn === 3)).get(6)).toBe(1)
  const always = sharesOf(chat(() => true))
  expect([...always.values()].every((share) => share === 0)).toBe(true)
})
