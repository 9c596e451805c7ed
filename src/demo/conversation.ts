import type { ChatTool } from './chat-client.ts'
import { facts, type Fact } from './facts.ts'
import type { ReplyScript, ScriptedCall } from './reply-script.ts'
import { argumentOf, runTool, tools, type ToolName } from './tools.ts'

/** One request of the conversation, with what comes before and after it. */
export type ScriptedStep = {
  /** Counted from 1. */
  readonly turn: number
  /** What the user says before this request; null within a turn. */
  readonly user: string | null
  /** The model's reply; where a fact is asked for, the part of it that needs no memory. */
  readonly reply: ReplyScript
  /** What the tools return, by call id. */
  readonly results: ReadonlyMap<string, string>
  /** What the user asks for in this step. */
  readonly asks: Fact | null
}

export type ScriptedConversation = {
  readonly system: string
  readonly tools: readonly ChatTool[]
  readonly steps: readonly ScriptedStep[]
}

/**
 * An agent looks for a fault in a code base: a dozen turns, most with several tool rounds, four facts that are
 * told early and asked for late. Every run holds the same conversation.
 */
export function scriptedConversation(): ScriptedConversation {
  const steps: ScriptedStep[] = []
  let calls = 0
  for (const [index, turn] of script.entries()) {
    let { user }: { user: string | null } = turn
    for (const round of turn.rounds) {
      const toolCalls: ScriptedCall[] = []
      const results = new Map<string, string>()
      for (const [name, argument] of round.calls) {
        calls += 1
        const id = `call_${calls}`
        toolCalls.push({ id, name, argumentsText: JSON.stringify({ [argumentOf[name]]: argument }) })
        results.set(id, runTool(name, argument) + (round.told ? `\n# ${round.told.told}\n` : ''))
      }
      steps.push({
        turn: index + 1,
        user,
        reply: { content: round.says ?? null, toolCalls },
        results,
        asks: null,
      })
      user = null
    }
    const reply = { content: turn.answer }
    steps.push({ turn: index + 1, user, reply, results: new Map(), asks: turn.asks ?? null })
  }
  return { system, tools, steps }
}

// --- internal ---

type Round = {
  readonly says?: string
  readonly calls: readonly (readonly [ToolName, string])[]
  readonly told?: Fact
}

type Turn = {
  readonly user: string
  readonly rounds: readonly Round[]
  readonly answer: string
  readonly asks?: Fact
}

const system =
  'You are a careful engineer in a terminal. You read before you change anything, name the files you speak of, and keep answers short. Use the tools; do not guess what a file says.'

const [port, path, id, email] = facts

const read = (file: string, says?: string): Round => ({ calls: [['read_file', file]], ...(says && { says }) })
const search = (pattern: string): Round => ({ calls: [['search', pattern]] })
const tests = (suite: string): Round => ({ calls: [['run_tests', suite]] })

const script: readonly Turn[] = [
  {
    user: 'Some payouts of our settlement service are booked twice at night. Find out why and fix it, step by step; I will ask questions on the way.',
    rounds: [
      read('README.md', 'I begin with what the repository says about itself.'),
      read('src/settlement/run-batch.ts'),
      search('bookPayout'),
      read('src/settlement/book-payout.ts'),
    ],
    answer: 'The batch runner takes a cursor, reads rows and books them one by one. I see no lock yet.',
  },
  {
    user: `${port.told} Look at how the service connects, and at what it reads its settings from.`,
    rounds: [
      read('src/database/connect.ts'),
      { calls: [['read_file', 'src/settings/load.ts']], told: path },
      search('loadSettings'),
      {
        calls: [
          ['read_file', 'src/database/pool.ts'],
          ['read_file', 'src/database/transaction.ts'],
        ],
      },
    ],
    answer: 'Connections come from a pool of eight; the settings are read once, at the start.',
  },
  {
    user: `${id.told} See what last night's log has to say.`,
    rounds: [
      read('logs/settlement-night.log'),
      search('booked twice'),
      read('logs/settlement-worker-2.log'),
      read(
        'logs/settlement-worker-5.log',
        'Two workers seem to have read the same rows; I compare their logs.',
      ),
    ],
    answer: 'Workers 2 and 5 read the same batch within a second of each other.',
  },
  {
    user: `${email.told} Now run the tests of the settlement folder and tell me which of them cover two workers.`,
    rounds: [
      tests('settlement'),
      search('two workers'),
      read('test/settlement/run-batch.test.ts'),
      read('test/settlement/cursor.test.ts'),
    ],
    answer: 'None of them starts two workers; the cursor test uses one connection only.',
  },
  {
    user: 'Then read the cursor itself, and whatever takes a lock.',
    rounds: [
      read('src/settlement/cursor.ts'),
      search('advisory lock'),
      {
        calls: [
          ['read_file', 'src/database/lock.ts'],
          ['search', 'withLock'],
        ],
      },
      read('src/settlement/lease.ts'),
      read('src/settlement/heartbeat.ts'),
    ],
    answer: 'The lease is renewed by a heartbeat of 30 seconds, and a slow batch outlives it.',
  },
  {
    user: 'How long do batches take in practice? Use the logs of the week.',
    rounds: [
      read('logs/settlement-monday.log'),
      read('logs/settlement-tuesday.log'),
      read('logs/settlement-wednesday.log'),
      read('logs/settlement-thursday.log'),
      search('lease expired'),
    ],
    answer: 'Most take seconds; on month ends some take over two minutes, four times the lease.',
  },
  {
    user: 'Write a test that shows the fault. Where would it go?',
    rounds: [
      read('test/support/two-workers.ts'),
      search('startWorker'),
      read('test/settlement/lease.test.ts'),
      tests('settlement-lease'),
      tests('settlement-lease-slow'),
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
      read('src/settlement/lease.ts', 'I read it once more before I change it.'),
      read('src/settlement/run-batch.ts'),
      search('renewLease'),
      tests('settlement-lease'),
      tests('settlement'),
    ],
    answer: 'The lease is now renewed by the batch itself, row by row, and the new test passes.',
  },
  {
    user: 'Does anything else rely on the old heartbeat?',
    rounds: [
      search('heartbeat'),
      read('src/refund/run-batch.ts'),
      read('src/refund/heartbeat.ts'),
      read('src/invoice/close-month.ts'),
      tests('refund'),
      tests('invoice'),
    ],
    answer: 'Refunds do, in the same way; invoices have their own.',
  },
  {
    user: 'The lease time stands in the settings. Which file is it that is really in use?',
    asks: path,
    rounds: [read('deploy/settlement-service.toml'), search('leaseSeconds')],
    answer: 'The settings in use:',
  },
  {
    user: 'Repair the refunds too, then run everything.',
    rounds: [
      read('src/refund/lease.ts'),
      {
        calls: [
          ['run_tests', 'refund'],
          ['run_tests', 'invoice'],
        ],
      },
      tests('ledger'),
      tests('everything'),
    ],
    answer: 'Refunds use the same lease now. All suites ran.',
  },
  {
    user: 'We have to correct the first payout that was booked twice by hand. Which one was it?',
    asks: id,
    rounds: [search('correctPayout'), read('src/ledger/correct-payout.ts')],
    answer: 'The payout to correct:',
  },
  {
    user: 'Write the note for the deployment. Who has to agree to it?',
    asks: email,
    rounds: [read('docs/deployment.md')],
    answer: 'It needs the agreement of:',
  },
]
