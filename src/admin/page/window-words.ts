import { figure, foreign, html, type HtmlEscapedString } from './markup.ts'

/** A window and where it comes from, as far as is known. */
export type SourcedWindow = {
  readonly tokens: number
  readonly source: string
  /** The profile's figure, where a refusal has shown that it is too large; null otherwise. */
  readonly overruled_tokens: number | null
  readonly profile: string | null
  /** What taught it, where it is learnt. */
  readonly taughtBy?: string | undefined
  /** Whether the server runs the model with it, where the server states it. */
  readonly isLoaded?: boolean | undefined
}

/** What taught a window. */
export const lessons: Readonly<Record<string, string>> = {
  refusal: 'the upstream refused more',
  cut: 'the upstream cut longer prompts',
  unstated: 'longer prompts were refused without a number',
}

/** Where a window comes from, and the setting that is wrong where one is. */
export function windowWords(window: SourcedWindow): HtmlEscapedString {
  const { tokens, source, overruled_tokens: overruledTokens, profile } = window
  if (overruledTokens === null) return html`${sourceWords(window) ?? foreign(source)}`
  return html`<span class="bad">your setting overruled</span>: the upstream refuses more,
    ${figure(overruledTokens)} → ${figure(tokens)}; set
    <code>window.tokens</code> ${profile === null ? null : html` in the profile ${foreign(profile)}`}`
}

// --- internal ---

function sourceWords({ source, taughtBy, isLoaded }: SourcedWindow): string | undefined {
  if (source === 'learnt') return (taughtBy === undefined ? undefined : lessons[taughtBy]) ?? sources[source]
  return source === 'server' && isLoaded === true ? 'what the server has loaded' : sources[source]
}

const sources: Readonly<Record<string, string>> = {
  config: 'your setting',
  learnt: 'learnt from answers',
  server: 'what the server states',
  table: 'from the built-in table',
  default: 'assumed, since nothing is known of it: set window.tokens',
}
