import { describe, expect, test } from 'vitest'
import { programsLack, type Matrix } from './matrix.ts'
import { claudeCode } from './stand/claude-code.ts'
import { SUMMARY } from './stand/reading-models.ts'
import { LAST_WORDS, openReadingStand, TASK } from './stand/reading-stand.ts'

/**
 * Claude Code has a conversation summarised when its user says so, by the model and with all of the conversation: past the
 * window that is one more prompt that is too long. What follows stands on the summary.
 */
export function claudeCodeCompact(matrix: Matrix): void {
  const agent = claudeCode({ name: 'Claude Code, `/compact`', model: 'm', windowTokens: 60_000 })
  const impossible = agent.impossible()
  describe('Claude Code', () => {
    const shows = matrix.client(agent.name, agent.packageName, {
      isAbsent: impossible !== null,
      lacks: programsLack,
    })
    const show = shows('streamedLoop', async () => {
      await using stand = await openReadingStand(agent, 'through Foldgate')
      const more = { args: ['--continue'] }
      const said = [await stand.run(TASK), await stand.run('/compact', more), await stand.run(TASK, more)]
      const requests = stand.requests()
      const [summarising, ...furtherSummaries] = requests.filter(({ isLoop }) => !isLoop)
      const second = requests.slice(requests.findIndex(({ isLoop }) => !isLoop) + 1)
      const refused = second.filter(({ rejected }) => rejected !== null)
      const reading = second.filter(({ rejected }) => rejected === null)

      expect(said.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
      expect(said.filter(({ output }) => output.includes(LAST_WORDS))).toHaveLength(2)
      expect(furtherSummaries).toEqual([])
      expect(summarising?.rejected).toBe(null)
      expect(summarising?.promptTokens).toBeLessThan(agent.windowTokens)
      expect(requests.filter(({ rejected }) => rejected?.reason === 'window')).toEqual([])
      // It keeps a thought from before its summary, is refused as it would be without Foldgate, and sends it no more.
      expect(refused.map(({ rejected }) => rejected?.reason)).toEqual(['binding'])
      expect(reading).toHaveLength(agent.rounds + 1)
      for (const { said: texts } of reading)
        expect(texts.some((text) => text.includes(summaryText))).toBe(true)
      return String(requests.length - refused.length)
    })
    test(
      'has a conversation summarised that is past the window, and goes on from there past it again',
      async ({ skip }) => {
        skip(impossible !== null, impossible ?? '')
        expect.hasAssertions()
        await show()
      },
      RUN_MS,
    )
  })
}

// --- internal ---

const RUN_MS = 200_000

/** It takes the tags away. */
const summaryText = SUMMARY.replaceAll(/<\/?summary>/g, '')
