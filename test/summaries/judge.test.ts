import { expect, test } from 'vitest'
import { profileSchema } from '../../src/profiles/schema.ts'
import { faultIn } from '../../src/summaries/judge.ts'
import { instructionSentences } from '../../src/summaries/prompt.ts'

// Own templates stood among the instructions twice: two sentences had to be repeated, and there was but one.
test('an answer that repeats the one sentence of an own template is none', () => {
  const sentence = 'Write down in order what was decided, for the colleague who takes over.'
  const { summary } = profileSchema.parse({ summary: { system_prompt: 'Be brief.', user_prompt: sentence } })
  const instructions = instructionSentences(summary)
  expect(instructions).toEqual([sentence])
  expect(faultIn(`Sure. ${sentence}`, instructions, null)).toBe('instructions-repeated')
  expect(faultIn('The build was repaired in src/f1.ts.', instructions, null)).toBeNull()
})

test('the built-in instructions hold each sentence once, those of the warm form included', () => {
  const { summary } = profileSchema.parse({})
  const instructions = instructionSentences(summary)
  expect(new Set(instructions).size).toBe(instructions.length)
  expect(instructions.join('\n')).toContain('does not come from the user')
})
