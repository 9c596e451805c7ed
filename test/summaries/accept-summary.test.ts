import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { profileSchema } from '../../src/profiles/schema.ts'
import { acceptSummary, fitSections, type Given } from '../../src/summaries/accept-summary.ts'
import { instructionSentences } from '../../src/summaries/prompt.ts'
import { KEPT_HEADING, sections, sectionsOf } from '../../src/summaries/sections.ts'
import { countThirds } from '../support/subject.ts'
import { forAll } from '../support/property-runs.ts'

type Asked = Parameters<typeof acceptSummary>[1] & Given

function askedOf(asked: Partial<Asked> = {}, summary: object = {}): Asked {
  const { summary: settings } = profileSchema.parse({ summary })
  return {
    previous: null,
    fenceKey: 'Ab3dEf6hIj9l',
    replacedTokens: 100_000,
    settings,
    history: { count: countThirds },
    ...asked,
  }
}

const completed = (text: string, asked: Asked, isUnfinished = false) =>
  acceptSummary({ text, isUnfinished }, asked, asked)

function complete(written: string, asked: Asked = askedOf(), isUnfinished = false): string {
  const summary = completed(written, asked, isUnfinished)
  return summary.kind === 'written' ? summary.text : `refused: ${summary.reason}`
}

const plain = '## Goal and constraints\nRepair the nightly run.\n\n## Facts\nIt fails since build 4f2a91c.'

describe('a summary', () => {
  test('stays as it was written where nothing is wrong with it', () => {
    expect(complete(plain)).toBe(plain)
    expect(completed(plain, askedOf())).toMatchObject({ tokens: countThirds(plain) })
  })

  test('loses what was put around all of it, and keeps the blocks inside', () => {
    for (const wrapped of [
      `\`\`\`markdown\n${plain}\n\`\`\``,
      `<summary>\n${plain}\n</summary>`,
      `<conversation-summary>\n\`\`\`\n${plain}\n\`\`\`\n</conversation-summary>\n`,
    ])
      expect(complete(wrapped)).toBe(plain)
    const withBlock = `## Facts\n\`\`\`sh\nnpm test\n# not a heading\n\`\`\``
    expect(complete(withBlock)).toBe(withBlock)
  })

  test('holds no tag of ours and no secret', () => {
    const text = complete(`${plain}\n</conversation-summary>\nDB_PASSWORD=swordfish`)
    expect(text).not.toMatch(/<\/conversation-|swordfish/)
  })

  test.each([
    ['empty', ''],
    ['empty', 'OK'],
    ['empty', '好的。'],
    ['error-text', 'Error: upstream connect error or disconnect/reset before headers'],
    ['error-text', '<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>'],
    ['error-text', '{"error":{"message":"model is overloaded, try again later"}}'],
    ['error-text', 'Traceback (most recent call last):\n  File "serve.py", line 3'],
    ['declined', "I'm sorry, but I can't help with summarising this conversation."],
    ['instructions-repeated', 'The messages were inside <messages-Ab3dEf6hIj9l>, and they say nothing more.'],
    ['instructions-repeated', instructionSentences(askedOf().settings).slice(0, 3).join(' ')],
  ])('is refused as %s: %s', (reason, written) => {
    expect(complete(written)).toBe(`refused: ${reason}`)
  })

  // Own templates stood among the instructions twice: two sentences had to be repeated, and there was but one.
  test('is refused where it repeats the one sentence of an own template', () => {
    const sentence = 'Write down in order what was decided, for the colleague who takes over.'
    const asked = askedOf({}, { system_prompt: 'Be brief.', user_prompt: sentence })
    expect(complete(`Sure. ${sentence}`, asked)).toBe('refused: instructions-repeated')
    expect(complete('The build was repaired in src/f1.ts.', asked)).toBe(
      'The build was repaired in src/f1.ts.',
    )
  })

  test('that speaks of errors is none', () => {
    const text = '## Facts\nError: ENOENT is what the build printed at src/build.ts.'
    expect(complete(text)).toBe(text)
  })

  test('is refused before it is cut where it is longer than what it replaces', () => {
    expect(complete(plain, askedOf({ replacedTokens: 10 }))).toBe('refused: too-long')
  })
})

describe('the cut', () => {
  const long = sections
    .map(({ heading }) => `## ${heading}\n${'word '.repeat(100 - heading.length / 5)}`.trim())
    .join('\n\n')

  test('takes whole sections, those that the work can do without first, and keeps the order of the rest', () => {
    const left = (max_tokens: number): string[] =>
      sectionsOf(complete(long, askedOf({}, { max_tokens }))).map(({ heading }) => heading)
    const all = sections.map(({ heading }) => heading)
    expect(left(countThirds(long))).toEqual(all)
    expect(left(countThirds(long) - 40)).toEqual(all.filter((heading) => heading !== 'Tried and failed'))
    expect(left(3 * 180)).toEqual(['Goal and constraints', 'Open items and next steps', 'Latest request'])
  })

  const section = fc.record({
    heading: fc.constantFrom(...sections.map(({ heading }) => heading), 'Something else'),
    body: fc.lorem({ maxCount: 60 }),
  })

  test('keeps only whole sections, never more than fit, and loses none silently', () => {
    forAll(100, fc.array(section, { minLength: 2 }), fc.integer({ min: 60, max: 400 }), (all, tokensMax) => {
      const texts = all.map(({ heading, body }) => `## ${heading}\n${body}`)
      const fitted = fitSections(texts.join('\n\n'), tokensMax, countThirds)
      if (fitted === null) return
      expect(countThirds(fitted.text)).toBeLessThanOrEqual(tokensMax)
      const pieces = sectionsOf(fitted.text).map(({ text }) => text)
      const isWhole = pieces.every((piece) => texts.includes(piece))
      // Where not one section fits, the beginning of one stands alone.
      expect(isWhole || pieces.length === 1).toBe(true)
      if (isWhole) expect(pieces.length + sectionsOf(fitted.dropped).length).toBe(texts.length)
    })
  })

  test('of a text without headings takes whole paragraphs', () => {
    const paragraphs = ['one ', 'two ', 'three '].map((word) => word.repeat(30).trim())
    expect(complete(paragraphs.join('\n\n'), askedOf({}, { max_tokens: 90 }))).toBe(
      paragraphs.slice(0, 2).join('\n\n'),
    )
  })

  test('of one section that is too long keeps its first lines', () => {
    const lines = Array.from({ length: 40 }, (_, line) => `- item ${line}`)
    const text = complete(`## Facts\n${lines.join('\n')}`, askedOf({}, { max_tokens: 60 }))
    expect(text).toMatch(/^## Facts\n- item 0\n(?:- item \d+\n?)+$/)
  })

  test('an answer that broke off loses the section that it broke off in', () => {
    expect(complete(plain, askedOf(), true)).toBe('## Goal and constraints\nRepair the nightly run.')
    expect(complete('## Facts\nIt fails since bu', askedOf(), true)).toBe('refused: truncated')
    expect(complete('the same again and again and again', askedOf(), true)).toBe('refused: truncated')
  })
})

describe('what a new summary lost of the one before', () => {
  const before =
    '## Facts\n- Start at src/nightly/run.ts, build 4f2a91c.\n- The port is 8080.\n- retries: 3\n\n## Tried and failed\n- Clearing /var/cache/apt.'

  test('is kept in a list at its end, each with the words that say what it is', () => {
    const text = complete('## Facts\n- Build 4f2a91c is bad.', askedOf({ previous: before }))
    expect(text).toBe(
      `## Facts\n- Build 4f2a91c is bad.\n\n## ${KEPT_HEADING}\n- Start at src/nightly/run.ts\n- The port is 8080\n- retries: 3\n- Clearing /var/cache/apt`,
    )
  })

  test('is not kept where a number was superseded', () => {
    const text = complete('## Facts\n- The port is 9090, retries: 5', askedOf({ previous: before }))
    expect(text).not.toMatch(/8080|retries: 3/)
  })

  test('adds nothing where nothing was lost', () => {
    expect(complete(before, askedOf({ previous: before }))).toBe(before)
  })

  test('does not grow, however often things are lost, and forgets the oldest first', () => {
    let previous: string | null = null
    const asked = (): Asked => askedOf({ previous }, { max_tokens: 400 })
    for (let round = 0; round < 40; round += 1) {
      previous = complete(`## Facts\n- The file of this round is src/part/file${round}.ts.`, asked())
      expect(countThirds(previous)).toBeLessThanOrEqual(400)
      expect(previous.split(KEPT_HEADING).length).toBeLessThanOrEqual(2)
    }
    expect(previous).toContain('src/part/file38.ts')
    expect(previous).not.toContain('src/part/file3.ts')
  })

  test('is one list, also where the model copied the old one', () => {
    const previous = `## Facts\n- None.\n\n## ${KEPT_HEADING}\n- src/a.ts\n- src/b.ts`
    const text = complete(`## Facts\n- src/c.ts\n\n## ${KEPT_HEADING}\n- src/b.ts`, askedOf({ previous }))
    expect(text).toBe(`## Facts\n- src/c.ts\n\n## ${KEPT_HEADING}\n- src/b.ts\n- src/a.ts`)
  })

  test('names what stood in the sections that were cut, too', () => {
    const written = `## Goal and constraints\n${'word '.repeat(60)}\n\n## Tried and failed\nPatching src/lost/thing.ts, ${'word '.repeat(100)}`
    expect(complete(written, askedOf({}, { max_tokens: 200 }))).toMatch(/- Patching src\/lost\/thing\.ts$/)
  })

  test('never takes the whole beyond its cap', () => {
    const words = fc.array(
      fc.constantFrom('src/a.ts', 'port: 22', 'build 4f2a91c', 'and', 'a1b2c3d4', '\n\n', '\n## Facts\n'),
    )
    forAll(100, words, words, fc.integer({ min: 20, max: 200 }), (previous, written, max_tokens) => {
      const asked = askedOf({ previous: previous.join(' ') }, { max_tokens })
      const summary = completed(written.join(' '), asked)
      expect(summary.kind === 'written' ? summary.tokens : 0).toBeLessThanOrEqual(max_tokens)
    })
  })

  // In proportion to the texts: comparing each thing with each would take this test beyond its time.
  test('is found in texts of tens of thousands of things', () => {
    const previous = Array.from(
      { length: 20_000 },
      (_, line) => `- label${line % 7}: ${line} in src/f${line}.ts`,
    ).join('\n')
    expect(complete(plain, askedOf({ previous }))).toContain(KEPT_HEADING)
  })
})
