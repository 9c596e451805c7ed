import * as fc from 'fast-check'
import { spokenForms, type Form } from '../../../dialects/responses/forms.ts'
import { text } from '../../../support/arbitrary-content.ts'
import { damageBytes, oddBytes, type DamageBytes } from './damaged-bytes.ts'
import type { OddBody } from './odd-body.ts'

/** A conversation of the Responses API as it is sent, and once more longer by a reply and the next question. */
export type OddInput = {
  readonly isCompact: boolean
  readonly isStreamed: boolean
  readonly body: OddBody
  /** Null if it was damaged: then it is another conversation. */
  readonly grown: OddBody | null
  readonly toString: () => string
}

/** Conversations of all forms of items, good ones and such as break the rules, damaged in every way, and what is none. */
export function oddInput(): fc.Arbitrary<OddInput> {
  return fc
    .record({
      isCompact: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
      isStreamed: fc.boolean(),
      input: fc.oneof({ weight: 12, arbitrary: items }, { weight: 1, arbitrary: text }, anyJson),
      more: fc.oneof(
        { weight: 3, arbitrary: fc.constant({}) },
        fc.dictionary(fc.constantFrom(...keys), anyJson, { maxKeys: 2 }),
      ),
      isAscii: fc.boolean(),
      indent: fc.constantFrom(undefined, undefined, '\t'),
      damages: fc.oneof(
        { weight: 4, arbitrary: fc.constant<DamageBytes[]>([]) },
        fc.array(damage, { minLength: 1, maxLength: 2 }),
      ),
    })
    .map(({ isCompact, isStreamed, input, more, isAscii, indent, damages }) => {
      const written = (value: unknown): OddBody => {
        const members = { model: 'm', store: false, stream: isStreamed && !isCompact, ...more }
        const json = JSON.stringify({ ...members, input: value, user: 'u' }, null, indent)
        const bytes = Buffer.from(isAscii ? escaped(json) : json)
        const body = damages.reduce<Buffer>((before, damaging) => damaging(before), bytes)
        return { bytes: () => body, toString: () => JSON.stringify(body.toString('latin1')) }
      }
      const body = written(input)
      const isWhole = damages.length === 0 && Array.isArray(input)
      const grown = isWhole ? written([...(input as unknown[]), ...GROWTH]) : null
      return {
        isCompact,
        isStreamed,
        body,
        grown,
        toString: () => `${isCompact ? 'compact ' : ''}${body.toString()}`,
      }
    })
}

// --- internal ---

const GROWTH = [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is done.' }] },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And what comes next?' }] },
]

const keys = [
  'instructions',
  'tools',
  'tool_choice',
  'text',
  'previous_response_id',
  'conversation',
  'context_management',
  'max_output_tokens',
  'truncation',
  'input',
  'messages',
  '__proto__',
]

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(1e308, -0, 2 ** 53, -1, '', [], {}, null, true, '\ud800', '\u0000'),
)

/** What is long and what is short, as an agent's items are. */
const user = text.map((said): Unit => [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: said }] },
])

type Unit = readonly unknown[]

const whole = ({ item, before, behind }: Form, said: string): Unit =>
  [before, item(said), behind].filter((each) => each !== undefined)

const form = fc.tuple(fc.constantFrom(...spokenForms), text).map(([one, said]) => whole(one, said))

/** Thoughts that a server has bound to what stands before them, and what they led to, with and without ids. */
const thoughtful = fc
  .record({
    number: fc.nat({ max: 9 }),
    hasId: fc.boolean(),
    bytes: fc.constantFrom(0, 40, 4_000),
    led: fc.array(fc.constantFrom('said', 'called', 'telepathy', 'reasoning'), {
      minLength: 1,
      maxLength: 4,
    }),
    said: text,
  })
  .map(({ number, hasId, bytes, led, said }): Unit => {
    const named = (prefix: string): object => (hasId ? { id: `${prefix}_${number}` } : {})
    const thought = { type: 'reasoning', ...named('rs'), summary: [], encrypted_content: 'g'.repeat(bytes) }
    const calls: object[] = []
    const made = led.map((kind, index): object => {
      if (kind === 'telepathy') return { type: 'telepathy', ...named('tp'), said }
      if (kind === 'reasoning') return { ...thought, encrypted_content: 'h'.repeat(bytes) }
      if (kind === 'said')
        return {
          type: 'message',
          ...named('msg'),
          role: 'assistant',
          content: [{ type: 'output_text', text: said }],
        }
      const call_id = `call_${number}_${index}`
      calls.push({ type: 'function_call_output', call_id, output: said })
      return { type: 'function_call', ...named('fc'), call_id, name: 'read', arguments: '{"path":"a"}' }
    })
    const last = { type: 'message', role: 'assistant', content: 'Done.' }
    return [thought, ...made, ...(calls.length > 0 ? calls.toReversed() : [last])]
  })

const marks = fc.constantFrom<Unit>(
  [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'g'.repeat(400) }],
  [{ type: 'compaction', encrypted_content: '' }],
  [{ type: 'configuration_update', reasoning: { effort: 'high' } }],
  [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] }],
  [{ type: 'compaction_trigger' }],
  [{ type: 'message', role: 'system', content: 'Be brief.' }],
)

/** Items that only the server has: what holds them is not touched. */
const stateful = fc.constantFrom<Unit>([{ type: 'item_reference', id: 'msg_1' }], [{ id: 'msg_1' }])

const wrongItem = fc.oneof(
  anyJson,
  fc.record(
    {
      type: fc.oneof(fc.constantFrom<unknown>(...spokenForms.map(({ item }) => item('')['type'])), anyJson),
      id: anyJson,
      role: fc.oneof(fc.constantFrom<unknown>('user', 'assistant', 'tool', 'critic'), anyJson),
      content: fc.oneof(anyJson, fc.array(fc.record({ type: anyJson, text: anyJson }), { maxLength: 3 })),
      call_id: fc.oneof(fc.constantFrom<unknown>('call_1', 'call_2'), anyJson),
      output: anyJson,
      arguments: anyJson,
      action: anyJson,
      summary: anyJson,
      encrypted_content: anyJson,
      execution: fc.constantFrom<unknown>('client', 'server', 1),
      caller: fc.constantFrom<unknown>({ type: 'program' }, null),
    },
    { requiredKeys: [] },
  ),
)

/** A unit that lost an item, has one twice or in another order. */
const broken = fc
  .tuple(fc.oneof(form, thoughtful), fc.nat({ max: 5 }), fc.constantFrom('lost', 'twice', 'turned'))
  .map(([unit, place, how]): Unit => {
    const at = place % unit.length
    if (how === 'lost') return unit.toSpliced(at, 1)
    return how === 'twice' ? unit.toSpliced(at, 0, unit[at]) : unit.toReversed()
  })

const good = fc.oneof(
  { weight: 4, arbitrary: user },
  { weight: 6, arbitrary: form },
  { weight: 5, arbitrary: thoughtful },
  { weight: 1, arbitrary: marks },
)

const items = fc
  .oneof(
    { weight: 3, arbitrary: fc.array(good, { minLength: 4, maxLength: 30 }) },
    {
      weight: 2,
      arbitrary: fc.array(
        fc.oneof(
          { weight: 6, arbitrary: good },
          { weight: 2, arbitrary: broken },
          { weight: 1, arbitrary: wrongItem.map((item): Unit => [item]) },
        ),
        { maxLength: 30 },
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.array(good, { maxLength: 10 }), stateful)
        .map(([before, one]) => [...before, one]),
    },
  )
  .map((units) => units.flat())

const damage = damageBytes([
  ...'{ } [ ] " \\ , : "input":[], "type":"reasoning", ,"model":"other" {"type":"compaction"},'
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
