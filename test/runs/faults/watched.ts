import { z } from 'zod'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { startFoldgate, type FoldgateOptions } from '../../support/foldgate.ts'
import { parsePrometheusText } from '../../support/prometheus-text.ts'
import { eventually } from '../../support/eventually.ts'

/** Starts a Foldgate whose operator looks on, on another port where somebody else was faster. */
export async function startWatched(options: FoldgateOptions) {
  for (;;) {
    const admin = await adminPlace()
    const foldgate = await startFoldgate({ ...options, flags: { ...options.flags, ...admin.flags } })
    if (foldgate.listening.adminTrouble === null)
      return { foldgate, adminOrigin: admin.origin, [Symbol.asyncDispose]: foldgate.close }
    await foldgate.close()
  }
}

/** What Foldgate told its operator of a fault. What is told of every request is left out. */
export type Told = {
  /** Type and reason of the journal's events, each once, in order. */
  readonly events: readonly string[]
  /** The counters that went up, with the label that says why. */
  readonly counted: readonly string[]
  /** How the answer ended, where it was not whole: what the page shows of the request. */
  readonly outcome: string | null
  /** Level and reason of the lines in the log from `warn` on, each once, in order. */
  readonly logged: readonly string[]
}

/**
 * The journal, the metrics and the log. `conversation` is the last one: what came before its latest request is read.
 * `failed` is the one that met the fault, where it is known.
 */
export async function whatWasTold(
  adminOrigin: string,
  conversation: string,
  log: readonly string[],
  failed: string | null = null,
): Promise<Told> {
  const events = await eventsUpTo(adminOrigin, conversation)
  return {
    ...(await withoutJournal(adminOrigin, log)),
    events: once(events.toReversed().filter(isTelling).map(eventText)),
    outcome: failed === null ? null : await outcomeOf(adminOrigin, failed),
  }
}

/** The metrics and the log: for where the store fails, and the journal with it. */
export async function withoutJournal(adminOrigin: string, log: readonly string[]): Promise<Told> {
  const counted = await whatWasCounted(adminOrigin)
  return { events: [], counted, outcome: null, logged: whatWasLogged(log) }
}

/** The same, of the log no more than which part failed. */
export const withoutReasons = (told: Told): Told => ({
  ...told,
  logged: once(told.logged.map((line) => line.replace(/: .*$/, ''))),
})

/** The same without what a busy machine adds where others say why: that it took too long, that a connection is opened anew. */
export function withoutWaits(told: Told): Told {
  const logged = told.logged.filter((line) => !/store: (?:no answer|\w+Error)$/.test(line))
  return logged.length === 0 ? told : { ...told, logged }
}

/** Resolves once the journal is in the store up to now; `conversation` is any that it may name. */
export async function eventsUpTo(adminOrigin: string, conversation: string): Promise<readonly ToldEvent[]> {
  const before = await eventsNow(adminOrigin)
  const found = await eventsUpToMark(adminOrigin, conversation, before)
  // A store that is left alone for a while has none: then it may be an earlier mark that was found.
  return before.length > 0 ? found : eventsUpToMark(adminOrigin, conversation, found)
}

/** Rows are written behind. One that comes after all others tells that these are there. */
async function eventsUpToMark(
  adminOrigin: string,
  conversation: string,
  before: readonly ToldEvent[],
): Promise<readonly ToldEvent[]> {
  await eventually(async () => {
    const asked = await askAdmin(adminOrigin, `/conversations/${conversation}/compact`, { method: 'POST' })
    if (asked.status !== 202) throw new Error(`The mark was answered ${asked.status} ${asked.text}`)
  }, PATIENT)
  return eventually(async () => {
    const found = await eventsNow(adminOrigin)
    if (marks(found) <= marks(before)) throw new Error('the journal is not written yet')
    return found
  }, PATIENT)
}

/** The counters that went up. */
async function whatWasCounted(adminOrigin: string): Promise<readonly string[]> {
  const families = parsePrometheusText((await askAdmin(adminOrigin, '/metrics')).text)
  return counters.flatMap(({ name, label, ordinary }) =>
    (families.get(name)?.samples ?? [])
      .filter(({ value, labels }) => value > 0 && !ordinary.includes(labels[label] ?? ''))
      .map(({ labels }) => `${name}{${label}="${labels[label]}"}`),
  )
}

/** Level and reason of the lines from `warn` on, each once. */
function whatWasLogged(log: readonly string[]): readonly string[] {
  const lines = log.map((line) => lineSchema.parse(JSON.parse(line)))
  const told = lines.filter(({ level }) => level === 'warn' || level === 'error').map(lineText)
  // The port is another one each time.
  return once(told.map((line) => line.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://HOST')))
}

/** As a cell of the table says it. */
export function toldText({ events, counted, outcome, logged }: Told): string {
  const parts = [
    ...events.map((event) => `event ${event}`),
    ...(outcome === null ? [] : [`request \`${outcome}\``]),
    ...counted.map((counter) => `\`${counter}\``),
    ...logged.map((line) => `log ${line}`),
  ]
  return parts.length === 0 ? 'an ordinary request' : parts.join('<br>')
}

type ToldEvent = z.output<typeof eventSchema>

/** A store that failed is left alone for up to ten seconds. */
const PATIENT = { timeout: 20_000 }

const LAST = 'compact-requested'

const eventSchema = z.object({ type: z.string(), reason: z.string().nullable() })
const eventsSchema = z.object({ events: z.array(eventSchema) })

const detailSchema = z.object({ rows: z.array(z.object({ outcome: z.string() })) })

const lineSchema = z.object({
  level: z.string(),
  message: z.string(),
  code: z.string().optional(),
  part: z.string().optional(),
  reason: z.string().optional(),
})

/** Where a fault may show, and the labels that every request brings along. */
const counters: readonly { name: string; label: string; ordinary: readonly string[] }[] = [
  { name: 'foldgate_requests_total', label: 'action', ordinary: ['relayed', 'compacted'] },
  { name: 'foldgate_recoveries_total', label: 'outcome', ordinary: [] },
  { name: 'foldgate_failures_total', label: 'part', ordinary: [] },
  { name: 'foldgate_summary_calls_total', label: 'outcome', ordinary: ['written'] },
]

const eventsNow = async (adminOrigin: string): Promise<readonly ToldEvent[]> =>
  eventsSchema.parse(JSON.parse((await askAdmin(adminOrigin, '/events?limit=500')).text)).events

const marks = (events: readonly ToldEvent[]): number => events.filter(({ type }) => type === LAST).length

async function outcomeOf(adminOrigin: string, conversation: string): Promise<string | null> {
  const { text } = await askAdmin(adminOrigin, `/conversations/${conversation}`)
  const { rows } = detailSchema.parse(JSON.parse(text))
  return rows.find(({ outcome }) => outcome !== 'finished')?.outcome ?? null
}

/** Compactions are no trouble; summaries that failed are. */
const isTelling = ({ type, reason }: ToldEvent): boolean =>
  type !== LAST && type !== 'compaction' && !(type === 'summary' && reason === 'written')

const eventText = ({ type, reason }: ToldEvent): string => `\`${type}\` ${reason ?? ''}`.trim()

function lineText({ level, message, code, part, reason }: z.output<typeof lineSchema>): string {
  const why = [part, code, reason].filter((fact) => fact !== undefined)
  return `\`${level}\` ${why.length === 0 ? message : why.join(': ')}`
}

const once = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
