import {
  around,
  ask,
  concat,
  listOf,
  MEGABYTE,
  nested,
  times,
  type Attack,
  type Chat,
  type Json,
} from '../attack.ts'
import { aroundOutput, call, outputOf, PROSE, responsesAttack, said, thought } from './responses.ts'

const PNG = 'data:image/png;base64,iVBORw0KGgo='

/** What single items of the Responses API hold: texts, parts and pictures where no message has any, and depth. */
export const itemContents: readonly Attack[] = [
  responsesAttack(
    'encrypted thoughts of megabytes',
    60 * MEGABYTE,
    (bytes) => {
      const encrypted = times('gAAAAAB', bytes / 30)
      return around(
        ...Array.from({ length: 30 }, (_, index) => [thought(index, encrypted), said(index)]).flat(),
      )
    },
    { room: 'roomy', isQuick: true },
  ),
  responsesAttack('a text as the input', 31 * MEGABYTE, (bytes) => text(times(PROSE, bytes)), {
    isQuick: true,
  }),
  responsesAttack('lone surrogates as the input', 20 * MEGABYTE, (bytes) => text(times('\\ud800', bytes))),
  responsesAttack('instructions', 31 * MEGABYTE, (bytes) => ({
    ...around(),
    before: [concat(['"instructions":"', times(PROSE, bytes), '"'])],
  })),
  responsesAttack('instructions in items', 20 * MEGABYTE, (bytes) => ({
    ...around(),
    before: [concat(['"instructions":', listOf('{"role":"system","content":"Be brief."}', bytes)])],
  })),
  responsesAttack('an output', 30 * MEGABYTE, (bytes) => aroundOutput(quoted(times(PROSE, bytes)))),
  responsesAttack('an output in the newest round, escaped', 30 * MEGABYTE, (bytes) => ({
    messages: [ask, call(1), outputOf(1, quoted(times('\\u00e9\\ud83d\\ude00', bytes)))],
  })),
  responsesAttack(
    'a long output, to be compacted',
    20 * MEGABYTE,
    (bytes) => around(call(1), outputOf(1, quoted(times(PROSE, bytes))), '{"type":"compaction_trigger"}'),
    { path: 'responses/compact' },
  ),
  parts('an output in parts', 16_000, '{"type":"input_text","text":"Done."}'),
  parts('an output in long parts', 16_000, `{"type":"input_text","text":"${PROSE.repeat(10)}"}`),
  parts('what a shell printed', 16_000, `{"stdout":"${PROSE.repeat(10)}","stderr":""}`),
  parts('images in an output', 16_000, `{"type":"input_image","image_url":"${PNG}"}`),
  parts('empty parts of an output', 49_000, '{}'),
  within('what code has drawn', 16_000, `{"type":"image","url":"${PNG}"}`, (list) =>
    around(concat(['{"type":"code_interpreter_call","id":"ci_1","code":"plot()","outputs":', list, '}'])),
  ),
  within('a summary of thoughts', 16_000, `{"type":"summary_text","text":"${PROSE.repeat(10)}"}`, (list) =>
    around(concat(['{"type":"reasoning","summary":', list, '}']), said(1)),
  ),
  within('thoughts in plain text', 16_000, `{"type":"reasoning_text","text":"${PROSE.repeat(10)}"}`, (list) =>
    around(concat(['{"type":"reasoning","summary":[],"content":', list, '}']), said(1)),
  ),
  within('commands of a shell call', 12_000, `"${PROSE.repeat(14)}"`, (list) =>
    around(
      concat(['{"type":"shell_call","call_id":"c1","action":{"commands":', list, '}}']),
      '{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"Done.","stderr":""}]}',
    ),
  ),
  within(
    'what a server has listed',
    8_000,
    `{"name":"f","input_schema":{"about":"${PROSE.repeat(25)}"}}`,
    (list) =>
      around(concat(['{"type":"mcp_list_tools","id":"mcpl_1","server_label":"s","tools":', list, '}'])),
  ),
  deep('an item of an unknown type', (value) => around(concat(['{"type":"x","y":', value, '}']))),
  deep('an output', aroundOutput),
  deep('an action', (value) => around(concat(['{"type":"shell_call","call_id":"c","action":', value, '}']))),
  deep('a text format', (value) => ({ ...around(), before: [concat(['"text":{"format":', value, '}'])] })),
  within(
    'items of an unknown type, as deep as is read',
    600,
    concat(['{"type":"x","y":', nested(980), '}']).toString(),
    (list) => ({
      messages: [],
      insteadOfMessages: list,
    }),
  ),
  responsesAttack(
    'tools in namespaces',
    9 * MEGABYTE,
    (bytes) => {
      const functions = listOf('{"type":"function","name":"f"}', 3_000).toString()
      const namespace = `{"type":"namespace","name":"n","tools":${functions}}`
      return { ...around(), after: [concat(['"tools":', listOf(namespace, bytes)])] }
    },
    { profile: 'joining' },
  ),
]

// --- internal ---

function text(characters: Json): Chat {
  return { messages: [], insteadOfMessages: quoted(characters) }
}

function quoted(characters: Json): Buffer {
  return concat(['"', characters, '"'])
}

/** So many elements in a list, nearly as many as are read of one message. */
function within(name: string, count: number, element: string, chat: (list: Json) => Chat): Attack {
  const bytes = count * (element.length + 1)
  return responsesAttack(name, bytes, () => chat(listOf(element, bytes)), { isExact: true })
}

function parts(name: string, count: number, part: string): Attack {
  return within(name, count, part, aroundOutput)
}

function deep(where: string, chat: (value: Json) => Chat): Attack {
  return responsesAttack(`depth in ${where}`, 60_000, (bytes) => chat(nested(bytes)), { isExact: true })
}
