import { forms, type Half } from './phrasing.ts'
import type { OrderReport } from './run-order.ts'
import { places } from './spoken-rule.ts'
import { strategies, type RuleReport, type Strategy } from './walk-chat.ts'

/** How often words were asked for, and how often they stood in the view. */
export type Held = { readonly asked: number; readonly held: number }

/** The sums of one window and strategy in one half. */
export type HalfTally = {
  readonly total: Held
  /** The total and what makes it up: by form, by place in the message, by language; and what words referred to. */
  readonly rows: readonly HeldRow[]
}

export type HeldRow = { readonly name: string } & Held

export type TallyGroup = {
  readonly windowTokens: number
  readonly chatTokens: number
  readonly strategy: Strategy
  readonly halves: readonly { readonly half: Half; readonly tally: HalfTally }[]
}

/** Sums up reports: a group for each window and strategy, small windows and recaps first. */
export function groupsOf(reports: readonly OrderReport[]): readonly TallyGroup[] {
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

/** Whether enough of what was asked for was held. */
export function isEnough({ asked, held }: Held): boolean {
  return held >= SHARE_LEAST * asked
}

// --- internal ---

const SHARE_LEAST = 0.95

const placeNames = {
  alone: 'as a message of their own',
  first: 'first in a message',
  middle: 'in the middle of one',
  last: 'last in one',
} as const

function tallyOf(reports: readonly RuleReport[]): HalfTally {
  const row = (name: string, isMeant: (rule: RuleReport['rule']) => boolean): HeldRow => ({
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

function heldOf(all: readonly Held[]): Held {
  return {
    asked: all.reduce((sum, { asked }) => sum + asked, 0),
    held: all.reduce((sum, { held }) => sum + held, 0),
  }
}
