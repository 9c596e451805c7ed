import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../support/chat-completions.ts'
import { clientTexts, echoes, unmarked, ways } from './echoes.ts'

// The story: a client's image lay at `…/context_length_exceeded.png`, and a server that could not load it said so. That
// was taken for an overflow: the image was dropped, and after the second time every conversation of that credential and
// model was folded to a window of 1,650 tokens, which had stood in the address, too.
describe.each(Object.entries(ways))('as %s', (_, wrap) => {
  describe.each(Object.entries(echoes))('a refusal that repeats %s', (__, refuse) => {
    test.each(Object.entries(clientTexts))('does not say what %s says', (___, text) => {
      const read = classifyAnswer(wrap(refuse(text)), { knownWindowTokens: null, expectedPromptTokens: 9050 })
      expect(read).toMatchObject({
        window: null,
        promptTokens: null,
        completionTokens: null,
        totalTokens: null,
      })
      expect(['other', 'denied', 'order']).toContain(read.class)
      expect(read.remedy).toBe('none')
    })
  })

  test.each(unmarked)('“%s” does not say what TEXT says', (message) => {
    for (const text of Object.values(clientTexts)) {
      const error = {
        message: message.replace('TEXT', () => text),
        type: 'invalid_request_error',
        code: null,
      }
      const read = classifyAnswer(wrap({ status: 400, body: { error } }))
      expect(read).toMatchObject({ window: null, promptTokens: null, remedy: 'none' })
      expect(['other', 'denied', 'order']).toContain(read.class)
    }
  })
})
