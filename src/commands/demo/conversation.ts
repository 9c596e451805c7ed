import type { AssistantMessage, ChatCall } from './client-wire.ts'
import { runTool, toolCall, tools } from './tools.ts'

/** One request of the conversation, with what comes before and after it. */
export type ScriptedStep = {
  /** Counted from 1. */
  readonly turn: number
  /** What the user says before this request; null within a turn. */
  readonly user: string | null
  /** The model's reply; if a fact is asked for, the part of it that needs no memory. */
  readonly reply: AssistantMessage
  /** What the tools return, by call id. */
  readonly results: ReadonlyMap<string, string>
  /** What the user asks for in this step. */
  readonly asks: Fact | null
}

export type ScriptedConversation = ReturnType<typeof scriptedConversation>

/**
 * An agent looks for a fault in a code base: a dozen turns, most with several tool rounds, and four facts that are
 * told early and asked for late. Every run holds the same conversation.
 */
export function scriptedConversation() {
  const steps: ScriptedStep[] = []
  let calls = 0
  for (const [index, { user, rounds, answer, told, asks = null }] of script.entries()) {
    for (const [place, round] of rounds.entries()) {
      const toolCalls: ChatCall[] = []
      const results = new Map<string, string>()
      for (const text of round.split(' + ')) {
        const [name = '', ...words] = text.split(' ')
        const argument = words.join(' ')
        calls += 1
        const call = toolCall(`call_${calls}`, name, argument)
        toolCalls.push(call)
        results.set(call.id, runTool(name, argument) + (told && place === 1 ? `\n# ${told.told}\n` : ''))
      }
      const reply = { role: 'assistant', content: null, tool_calls: toolCalls } as const
      steps.push({ turn: index + 1, user: place === 0 ? user : null, reply, results, asks: null })
    }
    const reply = { role: 'assistant', content: answer } as const
    steps.push({ turn: index + 1, user: rounds.length === 0 ? user : null, reply, results: new Map(), asks })
  }
  return { system, tools, steps }
}

/** A specific thing that is said once, early, and asked for late. */
export type Fact = {
  readonly name: string
  readonly value: string
  /** How it is told. */
  readonly told: string
  /** How it is asked for; the value does not stand in it. */
  readonly question: string
}

export const facts: readonly [Fact, Fact, Fact, Fact] = [
  {
    name: 'port',
    value: '47113',
    told: 'The staging copy of the ledger database listens on port 47113, not on the usual one.',
    question: 'Which port does the staging copy of the ledger database listen on?',
  },
  {
    name: 'path',
    value: '/srv/ledger/etc/settlement-north.toml',
    told: 'The settings that are really in use are in /srv/ledger/etc/settlement-north.toml.',
    question: 'In which file are the settings that are really in use? Give the whole path.',
  },
  {
    name: 'id',
    value: 'po_7QX2M94KD',
    told: 'The first payout that was booked twice is po_7QX2M94KD.',
    question: 'What is the id of the first payout that was booked twice?',
  },
  {
    name: 'e-mail',
    value: 'ines.halvorsen@ledger.example',
    told: 'Before anything is deployed, ines.halvorsen@ledger.example has to agree.',
    question: 'Who has to agree before anything is deployed? Give the e-mail address.',
  },
]

// --- internal ---

type Turn = {
  readonly user: string
  /** The calls that the model makes, `TOOL ARGUMENT`; with `+` between those that it makes at once. */
  readonly rounds: readonly string[]
  readonly answer: string
  /** Stands in the second round's result. */
  readonly told?: Fact
  /** What the answer has to end with. */
  readonly asks?: Fact
}

const system =
  'You are a careful engineer in a terminal. You read before you change anything, name the files you speak of, and keep answers short. Use the tools; do not guess what a file says.'

const [port, path, id, email] = facts

const script: readonly Turn[] = [
  {
    user: 'Some payouts of our settlement service are booked twice at night. Find out why and fix it, step by step; I will ask questions on the way.',
    rounds: [
      'read_file README.md',
      'read_file src/settlement/run-batch.ts',
      'search bookPayout',
      'read_file src/settlement/book-payout.ts',
    ],
    answer: 'The batch runner takes a cursor, reads rows and books them one by one. I see no lock yet.',
  },
  {
    user: `${port.told} Look at how the service connects, and at what it reads its settings from.`,
    rounds: [
      'read_file src/database/connect.ts',
      'read_file src/settings/load.ts',
      'search loadSettings',
      'read_file src/database/pool.ts + read_file src/database/transaction.ts',
    ],
    told: path,
    answer: 'Connections come from a pool of eight; the settings are read once, at the start.',
  },
  {
    user: `${id.told} See what last night's log has to say.`,
    rounds: [
      'read_file logs/settlement-night.log',
      'search booked twice',
      'read_file logs/settlement-worker-2.log',
      'read_file logs/settlement-worker-5.log',
    ],
    answer: 'Workers 2 and 5 read the same batch within a second of each other.',
  },
  {
    user: `${email.told} Now run the tests of the settlement folder and tell me which of them cover two workers.`,
    rounds: [
      'run_tests settlement',
      'search two workers',
      'read_file test/settlement/run-batch.test.ts',
      'read_file test/settlement/cursor.test.ts',
    ],
    answer: 'None of them starts two workers; the cursor test uses one connection only.',
  },
  {
    user: 'Then read the cursor itself, and whatever takes a lock.',
    rounds: [
      'read_file src/settlement/cursor.ts',
      'search advisory lock',
      'read_file src/database/lock.ts + search withLock',
      'read_file src/settlement/lease.ts',
      'read_file src/settlement/heartbeat.ts',
    ],
    answer: 'The lease is renewed by a heartbeat of 30 seconds, and a slow batch outlives it.',
  },
  {
    user: 'How long do batches take in practice? Use the logs of the week.',
    rounds: [
      'read_file logs/settlement-monday.log',
      'read_file logs/settlement-tuesday.log',
      'read_file logs/settlement-wednesday.log',
      'read_file logs/settlement-thursday.log',
      'search lease expired',
    ],
    answer: 'Most take seconds; on month ends some take over two minutes, four times the lease.',
  },
  {
    user: 'Write a test that shows the fault. Where would it go?',
    rounds: [
      'read_file test/support/two-workers.ts',
      'search startWorker',
      'read_file test/settlement/lease.test.ts',
      'run_tests settlement-lease',
      'run_tests settlement-lease-slow',
    ],
    answer: 'It goes into test/settlement/lease.test.ts, with a batch that outlives its lease.',
  },
  {
    user: 'I want to run it against the staging copy. Which port was that again?',
    asks: port,
    rounds: [],
    answer: 'For the staging copy:',
  },
  {
    user: 'Good. Now change the lease so that a batch holds it until it is done.',
    rounds: [
      'read_file src/settlement/lease.ts',
      'read_file src/settlement/run-batch.ts',
      'search renewLease',
      'run_tests settlement-lease',
      'run_tests settlement',
    ],
    answer: 'The lease is now renewed by the batch itself, row by row, and the new test passes.',
  },
  {
    user: 'Does anything else rely on the old heartbeat?',
    rounds: [
      'search heartbeat',
      'read_file src/refund/run-batch.ts',
      'read_file src/refund/heartbeat.ts',
      'read_file src/invoice/close-month.ts',
      'run_tests refund',
      'run_tests invoice',
    ],
    answer: 'Refunds do, in the same way; invoices have their own.',
  },
  {
    user: 'The lease time stands in the settings. Which file is it that is really in use?',
    asks: path,
    rounds: ['read_file deploy/settlement-service.toml', 'search leaseSeconds'],
    answer: 'The settings in use:',
  },
  {
    user: 'Repair the refunds too, then run everything.',
    rounds: [
      'read_file src/refund/lease.ts',
      'run_tests refund + run_tests invoice',
      'run_tests ledger',
      'run_tests everything',
    ],
    answer: 'Refunds use the same lease now. All suites ran.',
  },
  {
    user: 'We have to correct the first payout that was booked twice by hand. Which one was it?',
    asks: id,
    rounds: ['search correctPayout', 'read_file src/ledger/correct-payout.ts'],
    answer: 'The payout to correct:',
  },
  {
    user: 'Write the note for the deployment. Who has to agree to it?',
    asks: email,
    rounds: ['read_file docs/deployment.md'],
    answer: 'It needs the agreement of:',
  },
]
