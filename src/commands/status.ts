import { z } from 'zod'
import { flagOrVariable } from '../config/overrides.ts'
import { loadSettings } from '../config/settings.ts'
import { parseJsonText } from '../json/json-value.ts'
import { addressOf, onThisMachine } from '../server/listeners.ts'
import { type Status, statusSchema, statusWords } from '../telemetry/status.ts'
import { clock } from '../admin/page/markup.ts'
import { escaped } from '../telemetry/log/log.ts'
import type { FlagName } from '../config/flags.ts'
import { askFoldgate, type CommandContext, complain, say } from './command.ts'
import { findRunning } from './run/running-foldgate.ts'

/** Says whether all is well with a running Foldgate (exit code 0), or what is not (1); 2 if none can be asked. */
export async function statusCommand(context: CommandContext): Promise<number> {
  const loaded = await loadSettings(context)
  // The shell of who asks lacks the keys of the one that runs; what says whom to ask is to be right.
  const places = new Set(placeFlags.map((name) => flagOrVariable(name, context.flags, context.env)?.source))
  const wrong = loaded.ok ? [] : loaded.problems.filter(({ source }) => places.has(source))
  if (wrong.length > 0) return unasked(context, wrong)
  const { admin, port } = loaded.settings
  const isGiven = (name: 'port' | 'admin-port') => flagOrVariable(name, context.flags, context.env) !== null
  const isNamed = isGiven('admin-port')
  const running = isNamed ? null : await findRunning(context, isGiven('port') ? port : null)
  const found = running === 'unproved' ? null : running
  // One that keeps its records in memory leaves no word of itself, and mostly has the usual port.
  const address = found === null ? `${addressOf(onThisMachine(admin))}/` : found.admin
  if (address === null) return unasked(context, [`${found?.origin} has no admin listener (admin.port)`])
  try {
    // Whoever has the usual port may be anybody: the token goes where the user says, or to who has proved itself.
    const answer = await askFoldgate(address, isNamed || found !== null ? admin.token : null)
    const told = answerSchema.safeParse(parseJsonText(await answer.text())).data
    const message = `${address} answered ${answer.status}, and no status (admin.token_env, --admin-port)`
    if (told === undefined) return unasked(context, [message])
    say(
      context,
      context.flags.json === true
        ? JSON.stringify({ address, ...told.status })
        : linesOf(address, told.status),
    )
    return told.status.well ? 0 : 1
  } catch {
    return unasked(context, [`no Foldgate answers at ${address}: start one, or name its --admin-port`])
  }
}

// --- internal ---

/** What names the one that is asked. */
const placeFlags = ['config', 'port', 'admin-host', 'admin-port'] as const satisfies FlagName[]

const answerSchema = z.object({ status: statusSchema })

function unasked(context: CommandContext, problems: Parameters<typeof complain>[1]): number {
  complain(context, problems)
  return 2
}

/** Names of models in it are what clients say. */
function linesOf(address: string, status: Status): string {
  const lines = status.troubles.map(({ what, since, advice }) =>
    escaped(`- ${what} since ${clock(since, new Date())} UTC: ${advice}`),
  )
  return [`${address}: ${statusWords(status)}`, ...lines].join('\n')
}
