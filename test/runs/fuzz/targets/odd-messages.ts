import * as fc from 'fast-check'
import { text } from '../../../support/arbitrary-content.ts'
import { damageBytes, oddBytes, type DamageBytes } from './damaged-bytes.ts'
import type { OddBody } from './odd-body.ts'

/** A conversation of the Messages API as it is sent, and once more longer by a reply and the next question. */
export type OddMessages = {
  readonly isCompact: false
  readonly isStreamed: boolean
  readonly body: OddBody
  /** Null if it was damaged: then it is another conversation. */
  readonly grown: OddBody | null
  readonly toString: () => string
}

/** Conversations of all kinds of blocks, good ones and such as break the rules, damaged in every way, and what is none. */
export function oddMessages(): fc.Arbitrary<OddMessages> {
  return fc
    .record({
      isStreamed: fc.boolean(),
      messages: fc.oneof({ weight: 12, arbitrary: conversation }, anyJson),
      more: fc.oneof(
        { weight: 6, arbitrary: fc.constant({}) },
        { weight: 2, arbitrary: fc.dictionary(fc.constantFrom(...keys), anyJson, { maxKeys: 2 }) },
        // By chance alone none of a hundred may have one.
        { weight: 1, arbitrary: fc.constant({ thread: 'thread_1' }) },
      ),
      isAscii: fc.boolean(),
      indent: fc.constantFrom(undefined, undefined, '\t'),
      damages: fc.oneof(
        { weight: 4, arbitrary: fc.constant<DamageBytes[]>([]) },
        fc.array(damage, { minLength: 1, maxLength: 2 }),
      ),
    })
    .map(({ isStreamed, messages, more, isAscii, indent, damages }) => {
      const written = (value: unknown): OddBody => {
        const members = { model: 'm', max_tokens: 100, stream: isStreamed, ...more }
        const json = JSON.stringify({ ...members, messages: value, top_k: 1 }, null, indent)
        const bytes = Buffer.from(isAscii ? escaped(json) : json)
        const body = damages.reduce<Buffer>((before, damaging) => damaging(before), bytes)
        return { bytes: () => body, toString: () => JSON.stringify(body.toString('latin1')) }
      }
      const body = written(messages)
      const isWhole = damages.length === 0 && Array.isArray(messages)
      const grown = isWhole ? written([...(messages as unknown[]), ...GROWTH]) : null
      return { isCompact: false, isStreamed, body, grown, toString: () => body.toString() }
    })
}

// --- internal ---

const GROWTH = [
  { role: 'assistant', content: [{ type: 'text', text: 'It is done.' }] },
  { role: 'user', content: 'And what comes next?' },
]

const keys = [
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'thread',
  'context_management',
  'compaction',
  'max_tokens',
  'output_config',
  'cache_control',
  'messages',
  'input',
  '__proto__',
]

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(1e308, -0, 2 ** 53, -1, '', [], {}, null, true, '\ud800', '\u0000'),
)

type Unit = readonly unknown[]

const marked = fc.constantFrom({}, {}, { cache_control: { type: 'ephemeral' } }, { cache_control: null })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
const document = {
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'A page. '.repeat(90) },
}

const user = fc
  .tuple(text, marked, fc.constantFrom('text', 'block', 'shown', 'several'))
  .map(([said, mark, form]): Unit => {
    if (form === 'text') return [{ role: 'user', content: said }]
    const block = { type: 'text', text: said, ...mark }
    const before = form === 'shown' ? [image, document] : []
    const behind = form === 'several' ? [{ type: 'text', text: 'And?' }, image] : []
    return [{ role: 'user', content: [...before, block, ...behind] }]
  })

const reply = text.map((said): Unit => [{ role: 'assistant', content: said }])

/** Rounds of several calls, with thoughts of every kind before, between and behind, and words behind the results. */
const round = fc
  .record({
    number: fc.nat({ max: 9 }),
    bytes: fc.constantFrom(0, 40, 4_000),
    led: fc.array(
      fc.constantFrom('said', 'called', 'called', 'searched', 'thought', 'plain', 'secret', 'telepathy'),
      { minLength: 1, maxLength: 5 },
    ),
    form: fc.constantFrom('text', 'parts', 'image', 'found', 'error', 'none'),
    rides: fc.boolean(),
    mark: marked,
    said: text,
  })
  .map(({ number, bytes, led, form, rides, mark, said }): Unit => {
    const results: object[] = []
    const made = led.flatMap((kind, index): object[] => {
      const id = `toolu_${number}_${index}`
      switch (kind) {
        case 'called':
          results.push({ type: 'tool_result', tool_use_id: id, ...resultOf(form, said), ...mark })
          return [{ type: 'tool_use', id, name: 'read', input: { path: 'a', why: said.slice(0, 2_000) } }]
        case 'searched':
          return [
            { type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } },
            {
              type: 'web_search_tool_result',
              tool_use_id: id,
              content: [{ type: 'web_search_result', url: 'u', encrypted_content: 'g'.repeat(bytes) }],
            },
          ]
        case 'thought':
          return [{ type: 'thinking', thinking: said.slice(0, 400), signature: 'g'.repeat(bytes) }]
        case 'plain':
          return [{ type: 'thinking', thinking: said.slice(0, 4_000) }]
        case 'secret':
          return [{ type: 'redacted_thinking', data: 'h'.repeat(bytes) }]
        case 'telepathy':
          return [{ type: 'telepathy', said: said.slice(0, 200) }]
        case 'said':
          return [{ type: 'text', text: said }]
      }
    })
    const ends = results.length > 0 ? [] : [{ type: 'text', text: 'Done.' }]
    const riding = rides ? [{ type: 'text', text: 'Wait.' }] : []
    const answered =
      results.length > 0 ? [{ role: 'user', content: [...results.toReversed(), ...riding] }] : []
    return [{ role: 'assistant', content: [...made, ...ends] }, ...answered]
  })

function resultOf(form: string, said: string): object {
  switch (form) {
    case 'parts':
      return {
        content: [
          { type: 'text', text: said },
          { type: 'text', text: 'The end.' },
        ],
      }
    case 'image':
      return { content: [{ type: 'text', text: said }, image] }
    case 'found':
      return { content: [{ type: 'tool_reference', tool_name: 'deploy' }] }
    case 'error':
      return { content: said, is_error: true }
    case 'none':
      return {}
    default:
      return { content: said }
  }
}

const marks = fc.constantFrom<Unit>(
  [{ role: 'system', content: 'Be brief.' }],
  [
    {
      role: 'system',
      content: [{ type: 'tool_addition', tool: { type: 'tool_reference', tool_name: 'deploy' } }],
    },
  ],
  [
    {
      role: 'assistant',
      content: [
        { type: 'mcp_tool_listing', server_name: 's', tools: [{ name: 'f' }] },
        { type: 'text', text: 'Listed.' },
      ],
    },
  ],
)

/** What the server has compacted stands for all before it; of what is lasting there the server takes nothing first. */
const compaction: Unit = [
  {
    role: 'assistant',
    content: [
      { type: 'compaction', content: 'It began.' },
      { type: 'text', text: 'I go on.' },
    ],
  },
]

const wrongMessage = fc.oneof(
  anyJson,
  fc.record(
    {
      role: fc.oneof(fc.constantFrom<unknown>('user', 'assistant', 'system', 'critic'), anyJson),
      content: fc.oneof(
        anyJson,
        fc.array(
          fc.oneof(
            anyJson,
            fc.record(
              {
                type: fc.oneof(
                  fc.constantFrom<unknown>('text', 'tool_use', 'tool_result', 'thinking', 'image'),
                  anyJson,
                ),
                text: anyJson,
                id: fc.oneof(fc.constantFrom<unknown>('toolu_1_0', 'toolu_2_1'), anyJson),
                tool_use_id: fc.oneof(fc.constantFrom<unknown>('toolu_1_0', 'toolu_2_1'), anyJson),
                name: anyJson,
                input: anyJson,
                content: anyJson,
                signature: anyJson,
                cache_control: anyJson,
              },
              { requiredKeys: [] },
            ),
          ),
          { maxLength: 4 },
        ),
      ),
      id: anyJson,
    },
    { requiredKeys: [] },
  ),
)

/** A unit that lost a message, has one twice or in another order. */
const broken = fc
  .tuple(round, fc.nat({ max: 5 }), fc.constantFrom('lost', 'twice', 'turned'))
  .map(([unit, place, how]): Unit => {
    const at = place % unit.length
    if (how === 'lost') return unit.toSpliced(at, 1)
    return how === 'twice' ? unit.toSpliced(at, 0, unit[at]) : unit.toReversed()
  })

const good = fc.oneof(
  { weight: 5, arbitrary: user },
  { weight: 2, arbitrary: reply },
  { weight: 7, arbitrary: round },
  { weight: 1, arbitrary: marks },
)

const conversation = fc
  .tuple(
    user,
    fc.oneof(
      { weight: 3, arbitrary: fc.array(good, { minLength: 4, maxLength: 30 }) },
      {
        weight: 2,
        arbitrary: fc.array(
          fc.oneof(
            { weight: 6, arbitrary: good },
            { weight: 2, arbitrary: broken },
            { weight: 1, arbitrary: wrongMessage.map((message): Unit => [message]) },
          ),
          { maxLength: 30 },
        ),
      },
    ),
    fc.oneof({ weight: 3, arbitrary: user }, good),
    fc.option(fc.array(fc.oneof(user, reply, round), { maxLength: 8 }), { freq: 5 }),
  )
  .map(([first, units, last, past]) => [
    ...(past === null ? [] : [...first, ...past.flat(), ...compaction]),
    ...first,
    ...units.flat(),
    ...last,
  ])

const damage = damageBytes([
  ...'{ } [ ] " \\ , : "content":[], "role":"user", ,"model":"other" {"type":"thinking"},'
    .split(' ')
    .map((fragment) => Buffer.from(fragment)),
  ...oddBytes,
])

function escaped(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
