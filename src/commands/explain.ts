import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { drawExplanation } from '../admin/explain/explanation-text.ts'
import { createExplain, explanationJson } from '../admin/explain/explanation.ts'
import { loadConfiguration } from '../config/configuration.ts'
import { errorCode } from '../config/yaml-file.ts'
import { FoldgateError } from '../errors.ts'
import { type CommandContext, complain, flagText, noteOn, paperOf, say } from './command.ts'
import { lookUpWindow } from './look-up-window.ts'

/** Says what would be sent for the body of a request, and why. */
export async function explain(context: CommandContext): Promise<number> {
  const { flags, stdin } = context
  const [named = null] = context.files
  if (named === null && stdin().isTTY) {
    return complain(context, ['foldgate explain needs the body of a request: name its file, or pipe it in'])
  }
  const configuration = await loadConfiguration(context)
  if (!configuration.ok) return complain(context, configuration.problems)
  const { settings, files } = configuration
  const explainBody = createExplain({
    profiles: () => files.profiles,
    findWindow: (profile, model, requestTokens) =>
      lookUpWindow({ settings, place: context, onTrouble: noteOn(context) }, profile, model, requestTokens),
    settings,
  })
  const file = named === '-' ? null : named
  let body: Buffer
  try {
    body = file === null ? await buffer(stdin()) : await readFile(file)
  } catch (error) {
    const code = errorCode(error)
    const trouble = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    return complain(context, [
      `${file}: ${trouble}; foldgate explain takes the body of a request, or - to read it from standard input`,
    ])
  }
  try {
    const asked = { profile: flagText(flags, 'profile'), model: flagText(flags, 'model') }
    const explanation = await explainBody(body, asked)
    return say(
      context,
      flags['json'] === true ? explanationJson(explanation) : drawExplanation(explanation, paperOf(context)),
    )
  } catch (error) {
    if (!(error instanceof FoldgateError)) throw error
    const where = error.param === 'profile' ? '--profile' : (file ?? 'standard input')
    return complain(context, [`${where}: ${error.message}`])
  }
}
