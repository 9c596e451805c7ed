import { asksForBeta } from '../../upstream/anthropic.ts'
import { modelSpellings } from './model-spellings.ts'

/**
 * The name that a request's model is known by: its own, or, if a beta of Anthropic's gives it a window of a million tokens, the
 * one that Claude Code has for that (`claude-sonnet-4-5[1m]`), which the table lists. With and without the beta it is two models
 * to whatever is learnt of it.
 */
export function nameWithBeta(model: string, rawHeaders: readonly string[]): string {
  if (!asksForBeta(rawHeaders, longContextFlag)) return model
  const spellings = modelSpellings(model)
  return spellings.some((name) => longContextModels.has(name)) ? `${spellings[0]}[1m]` : model
}

// --- internal ---

const longContextFlag = /(?:^|,)\s*context-1m-\d{4}-/

/** Others have that window without it, or not at all. */
const longContextModels: ReadonlySet<string> = new Set([
  'claude-sonnet-4',
  'claude-sonnet-4-0',
  'claude-sonnet-4-5',
  'claude-4-sonnet',
  'claude-4-5-sonnet',
])
