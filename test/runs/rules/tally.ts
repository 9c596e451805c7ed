import { textsOf } from '../../support/strict-upstream/wire-message.ts'
import { alignedTable, grouped, shareOf, sumOf } from '../harness/table.ts'
import { forms } from './phrasing.ts'
import { places } from './chat.ts'
import { strategies, type OrderReport, type RuleReport } from './walk-chat.ts'

export type Held = { readonly asked: number; readonly held: number }
type TallyGroup = ReturnType<typeof groupsOf>[number]

/** Sums up reports: a group for each window and strategy, small windows and recaps first. */
export function groupsOf(reports: readonly OrderReport[]) {
  const groups = Map.groupBy(
    reports,
    ({ order }) => `${order.windowTokens} ${order.chat.tokens} ${order.strategy}`,
  )
  const sums = [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { windowTokens, strategy, chat } = first.order
    const halves = [...Map.groupBy(group, ({ order }) => order.chat.half)].map(([half, own]) => ({
      half,
      tally: tallyOf(own.flatMap(({ rules }) => rules)),
    }))
    return [{ windowTokens, chatTokens: chat.tokens, strategy, halves }]
  })
  return sums.toSorted(
    (one, other) =>
      one.windowTokens - other.windowTokens ||
      strategies.indexOf(one.strategy) - strategies.indexOf(other.strategy),
  )
}

export const isEnough = ({ asked, held }: Held): boolean => held >= SHARE_LEAST * asked

/** A row for each form, the total, and what it looks like by place and language; two columns for each half. */
export function tableOf({ windowTokens, chatTokens, strategy, halves }: TallyGroup): string {
  const title = `${strategy}: window ${grouped(windowTokens)}, chats of ${grouped(chatTokens)} tokens`
  const head = ['', ...halves.flatMap(({ half }) => [half, ''])]
  const names = halves[0]?.tally.rows.map(({ name }) => name) ?? []
  const cells = names.map((name, place) => [
    name,
    ...halves.flatMap(({ tally }) => heldCells(tally.rows[place] ?? { asked: 0, held: 0 })),
  ])
  return `\n${title}\n${alignedTable([head, ...cells])}\n`
}

/**
 * The last views of some chats as the model got them, those that lost most first, with the rules that were asked for.
 * Where both halves were measured, those of the half kept apart are not shown.
 */
export function shownViews(reports: readonly OrderReport[], shown: number): string {
  const known = reports.filter(({ order }) => order.chat.half === 'known')
  return (known.length > 0 ? known : reports)
    .toSorted((one, other) => lostIn(other) - lostIn(one))
    .slice(0, shown)
    .map(viewText)
    .join('')
}

const SHARE_LEAST = 0.95

const placeNames = {
  alone: 'as a message of their own',
  first: 'first in a message',
  middle: 'in the middle of one',
  last: 'last in one',
} as const

/** The total and what makes it up: by form, by place in the message, by language; and what words referred to. */
function tallyOf(reports: readonly RuleReport[]) {
  const row = (name: string, isMeant: (rule: RuleReport['rule']) => boolean) => ({
    name,
    ...heldOf(reports.filter(({ rule }) => isMeant(rule))),
  })
  const referring = reports.flatMap(({ asked, referred }) =>
    referred === null ? [] : [{ asked, held: referred }],
  )
  const total = heldOf(reports)
  return {
    total,
    rows: [
      ...forms.map((form) => row(form, (rule) => rule.form === form)),
      { name: 'total', ...total },
      ...places.map((place) => row(`  ${placeNames[place]}`, (rule) => rule.place === place)),
      row('  in English', ({ language }) => language === 'en'),
      row('  in other languages', ({ language }) => language !== 'en'),
      { name: '  what they refer to', ...heldOf(referring) },
    ],
  }
}

const heldOf = (all: readonly Held[]): Held => ({
  asked: sumOf(all, ({ asked }) => asked),
  held: sumOf(all, ({ held }) => held),
})

const heldCells = ({ asked, held }: Held): readonly [string, string] => [
  asked === 0 ? '' : `${held} of ${asked}`,
  shareOf(held, asked),
]

const RULE = '='.repeat(100)
const lostIn = ({ rules }: OrderReport): number => sumOf(rules, ({ asked, held }) => asked - held)

function viewText({ order, rules, view }: OrderReport): string {
  const { half, number } = order.chat
  const asked = rules.map(({ rule, asked: times, held }) => {
    const old = rule.old === null ? '' : `, instead of "${rule.old}"`
    return `${held} of ${times}: ${rule.form}, "${rule.says}"${old}`
  })
  const messages = view.map(({ role, content }) => `--- ${String(role)}\n${textsOf(content).join('\n')}`)
  const title = `chat ${number} (${half}), ${order.strategy}, window ${order.windowTokens}`
  return `\n${RULE}\n${title}\n${asked.join('\n')}\n${messages.join('\n')}\n`
}
