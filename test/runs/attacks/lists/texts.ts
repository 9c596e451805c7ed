import { around, ask, concat, MEGABYTE, times, type Attack, type Json } from '../attack.ts'

const PROSE = 'The file ledger.ts reads 412 rows, checks their sums and writes what is new to /var/lib/app. '

/** One text, or few, of tens of megabytes: whatever reads it in one go holds the loop. */
export const longTexts: readonly Attack[] = [
  { ...text('prose', PROSE), room: 'roomy', bytes: 60 * MEGABYTE },
  { ...text('one letter', 'a') },
  { ...text('spaces', ' ') },
  { ...text('digits', '0123456789') },
  { ...text('emoji', '👩‍👩‍👧‍👦') },
  { ...text('line ends', '\\n') },
  { ...text('backslashes', '\\\\') },
  { ...text('quotation marks', '\\"'), isQuick: true },
  { ...text('escaped zeros', '\\u0000') },
  { ...text('lone surrogates', '\\ud800') },
  {
    name: 'prose in the newest message',
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    chat: (bytes) => ({ messages: [said('user', 'content', times(PROSE, bytes))] }),
  },
  {
    name: 'prose in a system message',
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    chat: (bytes) => ({ messages: [said('system', 'content', times(PROSE, bytes)), ask] }),
  },
  {
    name: 'prose with summaries, recall and an archive',
    isQuick: true,
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    profile: 'archiving',
    chat: (bytes) => around(said('user', 'content', times(PROSE, bytes))),
  },
  { ...field('thoughts in reasoning_content', 'reasoning_content'), isQuick: true },
  listed('thoughts in reasoning_details', 'reasoning_details', '{"type":"reasoning.text","text":"'),
  listed('thoughts in thinking_blocks', 'thinking_blocks', '{"type":"thinking","signature":"s","thinking":"'),
  { ...field('a refusal', 'refusal'), room: 'sidecar', bytes: 10 * MEGABYTE },
]

// --- internal ---

function text(name: string, of: string): Attack {
  return {
    name: `a text of ${name}`,
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    chat: (bytes) => around(said('user', 'content', times(of, bytes))),
  }
}

function field(name: string, key: string): Attack {
  return {
    name,
    room: 'roomy',
    bytes: 60 * MEGABYTE,
    chat: (bytes) =>
      around(concat(['{"role":"assistant","content":"Yes.","', key, '":"', times(PROSE, bytes), '"}'])),
  }
}

function listed(name: string, key: string, opening: string): Attack {
  return {
    name,
    room: 'roomy',
    bytes: 60 * MEGABYTE,
    chat: (bytes) =>
      around(
        concat(['{"role":"assistant","content":"Yes.","', key, '":[', opening, times(PROSE, bytes), '"}]}']),
      ),
  }
}

function said(role: string, key: string, value: Json): Json {
  return concat(['{"role":"', role, '","', key, '":"', value, '"}'])
}
