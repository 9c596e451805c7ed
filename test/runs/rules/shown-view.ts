import { textsOf } from '../../support/strict-upstream/wire-message.ts'
import type { OrderReport } from './run-order.ts'

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

// --- internal ---

const RULE = '='.repeat(100)

function lostIn({ rules }: OrderReport): number {
  return rules.reduce((sum, { asked, held }) => sum + asked - held, 0)
}

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
