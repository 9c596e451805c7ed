import { loadSettings } from '../config/settings.ts'
import { addressOf, onThisMachine } from '../server/listeners.ts'
import { askFoldgate, type CommandContext, complain, say } from './command.ts'

/** Asks the Foldgate that runs with these settings whether it is up. */
export async function health(context: CommandContext): Promise<number> {
  const { settings } = await loadSettings(context)
  const address = `${addressOf(onThisMachine(settings))}/healthz`
  try {
    const answer = await askFoldgate(address)
    if (answer.ok) return say(context, 'ok')
    return complain(context, [`${address} answered ${answer.status}`])
  } catch {
    return complain(context, [`${address} does not answer: is Foldgate running, and on this port (--port)?`])
  }
}
