import { expect, test } from 'vitest'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { chooseWords } from '../../../src/compaction/recap/user/choose-words.ts'
import { userMessages } from '../../../src/compaction/recap/user/user-words.ts'
import { finish } from '../../../src/conversation/source.ts'
import { subjectOf } from '../../support/subject.ts'
import { user } from '../sending.ts'

const cacheOf = () => createMadeCache({ charsMax: 1e7 })

// Story: all sentences of a message were judged in one go. One of forty thousand characters kept every other request
// waiting for up to a tenth of a second.
test('a long message is judged in steps', () => {
  const text = Array.from({ length: 320 }, (_, n) => `Please never use module ${n} before the release.`).join(
    ' ',
  )
  const steps = userMessages(subjectOf([user(text)]), [0], cacheOf())
  expect([...steps].length).toBeGreaterThanOrEqual(10)
})

// Story: what stands again and again was looked for in all messages in one go, a tenth of a second for 18,747.
test('what is said out of habit is found in steps', () => {
  const said = Array.from({ length: 2560 }, (_, n) => user(`Never use module ${n} in the release.`))
  const subject = subjectOf(said)
  const messages = finish(
    userMessages(
      subject,
      said.map((_, index) => index),
      cacheOf(),
    ),
  )
  const none = { tokensMax: 0, othersTokensMax: 0, shown: (text: string) => text, extraTokens: 0 }
  expect([...chooseWords(subject, messages, none)].length).toBeGreaterThanOrEqual(20)
})
