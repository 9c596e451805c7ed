import { Tiktoken } from 'js-tiktoken/lite'
import { checkOf } from './check-of.ts'
import ranksOfO200k from 'js-tiktoken/ranks/o200k_base'
import { runAtOnce } from '../../src/json/source.ts'
import { counterOver, vocabularySteps } from '../../src/tokens/bpe-counter.ts'
import { createReferenceCounter } from '../conversations/reference-counter.ts'
import { boundedTexts, makeWorstTexts, type WorstText } from '../conversations/worst-texts.ts'
import { median, spreadOf } from '../figures.ts'
import { askBeside, type Beside } from '../load/beside.ts'
import { postOf } from '../load/load.ts'
import type { Check, Measure, MeasureOptions, Table } from '../section.ts'
import { shown, shownSpread } from '../shown.ts'
import { startCompactingFoldgate } from './warm/compacting.ts'

/** Characters that js-tiktoken's own encoder does in reasonable time: it takes four times as long for twice as many. */
const PREFIX_CHARACTERS = 2_000

/** Long pieces are merged in parts, which counts a token more here and there: docs/decisions/token-counter.md. */
const STRAY_SHARE_MAX = 0.005

/** How long texts take to be counted that tokenizers are slow for, and whether the counts are right. */
export const worstTexts: Measure = {
  name: 'worst-texts',
  run: async (options) => {
    const texts = makeWorstTexts()
    const { tables: counting, checks } = inProcess(texts, options)
    return {
      name: 'worst-texts',
      title: 'Texts that are hard to count',
      about: `Texts of 1 MB that leave a tokenizer no place to cut, counted in o200k_base: in process by Foldgate's counter, which is made anew for each round, and as the only message of a chat request that Foldgate sees for the first time. Counts are compared with two others: over the first ${PREFIX_CHARACTERS} characters with js-tiktoken's own encoder, which is too slow for more, and over the whole text with a counter of the bench's own that shares no code with Foldgate's and is itself compared with js-tiktoken's.`,
      tables: [...counting, await overHttp(texts, options)],
      checks,
    }
  },
}

// --- internal ---

type Counted = { readonly tables: readonly Table[]; readonly checks: readonly Check[] }

function inProcess(texts: readonly WorstText[], { effort, tell }: MeasureOptions): Counted {
  const published = new Tiktoken(ranksOfO200k)
  const reference = createReferenceCounter()
  const rounds: ReadonlyMap<string, number>[] = []
  for (let round = 0; round < effort.rounds; round += 1) {
    tell(`hard texts in process, ${round + 1} of ${effort.rounds}`)
    const counter = counterOver(runAtOnce(vocabularySteps(ranksOfO200k)), 'own')
    rounds.push(
      new Map(
        texts.map(({ name, text }) => {
          const startedMs = performance.now()
          counter.count(text)
          return [name, performance.now() - startedMs]
        }),
      ),
    )
  }
  const counter = counterOver(runAtOnce(vocabularySteps(ranksOfO200k)), 'own')
  let differing = 0
  const rows = texts.map(({ name, text }) => {
    const prefix = text.slice(0, PREFIX_CHARACTERS)
    const prefixTokens = published.encode(prefix, [], []).length
    const tokens = counter.count(text)
    const isSame =
      Math.abs(counter.count(prefix) / prefixTokens - 1) <= STRAY_SHARE_MAX &&
      reference(prefix) === prefixTokens &&
      Math.abs(reference(text) / tokens - 1) <= STRAY_SHARE_MAX
    if (!isSame) differing += 1
    const ms = rounds.map((round) => round.get(name) ?? Number.NaN)
    return [name, shown(median(ms)), shownSpread(spreadOf(ms)), String(tokens), isSame ? 'yes' : 'no']
  })
  const totalsMs = rounds.map((round) =>
    texts.reduce((sum, { name }) => sum + (boundedTexts.has(name) ? (round.get(name) ?? Number.NaN) : 0), 0),
  )
  return {
    tables: [
      {
        caption: 'Counting 1 MB',
        columns: ['text', 'median ms', 'in the rounds', 'tokens', 'as both others count'],
        rows,
      },
    ],
    checks: [
      checkOf(
        'worst-texts',
        `Counting 1 MB each of ${[...boundedTexts].join(', ')}, together, in milliseconds`,
        { kind: 'at most', value: 1_000 },
        totalsMs,
      ),
      {
        id: 'worst-texts-exact',
        what: `Texts of ${texts.length} that are counted otherwise than by the two others, by more than half a percent`,
        bound: { kind: 'at most', value: 0 },
        value: differing,
        spread: [differing, differing],
      },
    ],
  }
}

async function overHttp(
  texts: readonly WorstText[],
  { effort, upstreamOrigin, tell }: MeasureOptions,
): Promise<Table> {
  const rounds: (readonly Beside[])[] = []
  for (let round = 0; round < effort.rounds; round += 1) {
    tell(`hard texts over HTTP, ${round + 1} of ${effort.rounds}`)
    const foldgate = await startCompactingFoldgate(upstreamOrigin)
    const besides: Beside[] = []
    try {
      for (const { text } of texts) {
        const body = JSON.stringify({ model: 'plain', messages: [{ role: 'user', content: text }] })
        besides.push(await askBeside(foldgate.origin, [postOf('/v1/chat/completions', Buffer.from(body))]))
      }
    } finally {
      await foldgate.stop()
    }
    rounds.push(besides)
  }
  return {
    caption: 'As the only message of a chat request, a small request beside it',
    columns: [
      'text',
      'answered after, ms',
      'in the rounds',
      'longest added to a small request, ms',
      'in the rounds',
      'what Foldgate did',
    ],
    rows: texts.map(({ name }, index) => {
      const besides = rounds.flatMap((round) => round[index] ?? [])
      const answeredMs = besides.flatMap(({ answers }) => answers.map(({ totalMs }) => totalMs))
      const addedMs = besides.map((each) => Math.max(...each.addedMs))
      const head = besides[0]?.answers[0]?.head ?? ''
      return [
        name,
        shown(median(answeredMs)),
        shownSpread(spreadOf(answeredMs)),
        shown(median(addedMs)),
        shownSpread(spreadOf(addedMs)),
        /\r\nx-foldgate-action: ([^\r]+)/i.exec(head)?.[1] ?? '–',
      ]
    }),
  }
}
