import { z } from 'zod'
import { flagOrVariable } from '../config/overrides.ts'
import { loadSettings } from '../config/settings.ts'
import { parseJsonText } from '../json/json-value.ts'
import { addressOf, onThisMachine } from '../server/listeners.ts'
import { type Status, statusSchema, statusWords } from '../telemetry/status.ts'
import { clock } from '../admin/page/markup.ts'
import { type CommandContext, complain, say } from './command.ts'
import { findRunning } from './run/running-foldgate.ts'

/** Says whether all is well with a running Foldgate (exit code 0), or what is not (1); 2 if none can be asked. */
export async function statusCommand(context: CommandContext): Promise<number> {
  const loaded = await loadSettings(context)
  if (!loaded.ok) return unasked(context, loaded.problems)
  const { admin, port } = loaded.settings
  const isGiven = (name: 'port' | 'admin-port') => flagOrVariable(name, context.flags, context.env) !== null
  const isNamed = isGiven('admin-port')
  const running = isNamed ? null : await findRunning(context, isGiven('port') ? port : null)
  const found = running === 'unproved' ? null : running
  // One that keeps its records in memory leaves no word of itself, and mostly has the usual port.
  const address = found === null ? `${addressOf(onThisMachine(admin))}/` : found.admin
  if (address === null) return unasked(context, [`${found?.origin} has no admin listener (admin.port)`])
  // Whoever has the usual port may be anybody: the token goes where the user says, or to who has proved itself.
  const token = isNamed || found !== null ? (admin.token?.reveal() ?? null) : null
  const bearer = token === null ? {} : { authorization: `Bearer ${token}` }
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const answer = await fetch(address, {
      headers: { accept: 'application/json', ...bearer },
      redirect: 'error',
      signal,
    })
    const told = answerSchema.safeParse(parseJsonText(await answer.text())).data
    const message = `${address} answered ${answer.status}, and no status (admin.token_env, --admin-port)`
    if (told === undefined) return unasked(context, [message])
    say(context, context.flags.json === true ? JSON.stringify(told.status) : linesOf(told.status))
    return told.status.well ? 0 : 1
  } catch {
    return unasked(context, [`no Foldgate answers at ${address}: start one, or name its --admin-port`])
  }
}

// --- internal ---

/** How long an answer is waited for, in milliseconds. */
const ANSWER_MS = 3_000

const answerSchema = z.object({ status: statusSchema })

function unasked(context: CommandContext, problems: Parameters<typeof complain>[1]): number {
  complain(context, problems)
  return 2
}

function linesOf(status: Status): string {
  const lines = status.troubles.map(
    ({ what, since, advice }) => `- ${what} since ${clock(since, new Date())} UTC: ${advice}`,
  )
  return [statusWords(status), ...lines].join('\n')
}
