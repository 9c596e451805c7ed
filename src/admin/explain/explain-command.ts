import { readFile } from 'node:fs/promises'
import { loadConfiguration, type ConfigurationOptions } from '../../config/configuration.ts'
import { formatProblem } from '../../config/problem.ts'
import type { Settings } from '../../config/settings.ts'
import { FoldgateError } from '../../errors.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import type { Profile } from '../../profiles/schema.ts'
import { drawExplanation } from './drawing/drawing.ts'
import type { Paper } from './drawing/ink.ts'
import { readLimits } from '../../request/read/read-limits.ts'
import { createExplain, type ExplainOptions } from './explain.ts'
import { explanationJson } from './explanation.ts'

export type ExplainCommandOptions = ConfigurationOptions &
  ExplainOptions & {
    /** The request's body; null or `-`: what `readInput` reads. */
    readonly file: string | null
    readonly readInput: () => Promise<Buffer>
    readonly isJson: boolean
    readonly paper: Paper
    readonly findWindow: (profile: Profile, model: string, settings: Settings) => Promise<ResolvedWindow>
  }

export type ExplainResult = {
  /** What to print, without a newline at its end. */
  readonly text: string
  readonly exitCode: 0 | 1
}

/** What `foldgate explain` says: what would become of a request body, or what was wrong. */
export async function explainFile(options: ExplainCommandOptions): Promise<ExplainResult> {
  const configuration = await loadConfiguration(options)
  if (!configuration.ok) return failure(configuration.problems.map(formatProblem).join('\n'))
  const { settings, files } = configuration
  const explain = createExplain({
    profiles: () => files.profiles,
    findWindow: (profile, model) => options.findWindow(profile, model, settings),
    usageInStreams: settings.usage.in_streams,
    limits: readLimits(settings.limits),
  })
  const isFile = options.file !== null && options.file !== '-'
  const body = isFile ? await readBody(options.file ?? '') : await options.readInput()
  if (!Buffer.isBuffer(body)) return failure(body.problem)
  try {
    const explanation = await explain(body, options)
    const text = options.isJson ? explanationJson(explanation) : drawExplanation(explanation, options.paper)
    return { text, exitCode: 0 }
  } catch (error) {
    if (!(error instanceof FoldgateError)) throw error
    const where = error.param === 'profile' ? '--profile' : isFile ? options.file : 'standard input'
    return failure(`${where}: ${error.message}`)
  }
}

// --- internal ---

function failure(text: string): ExplainResult {
  return { text, exitCode: 1 }
}

async function readBody(file: string): Promise<Buffer | { readonly problem: string }> {
  try {
    return await readFile(file)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const advice = reason === 'ENOENT' ? 'there is no such file' : `it cannot be read (${reason})`
    return {
      problem: `${file}: ${advice}; foldgate explain takes the body of a request, or - to read it from standard input`,
    }
  }
}
