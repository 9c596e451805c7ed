import type { Log, LogFacts } from './log.ts'
import type { CutPrompt } from '../../models/learn.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import { createThrottle } from './throttle.ts'

export type Warnings = ReturnType<typeof createWarnings>

/** What an operator is told once, and how it is mended. */
export function createWarnings(log: Log) {
  const timesRefused = createThrottle(() => performance.now())
  const told = new Map<string, Set<string>>()

  /** Says something the first time that it is about this, as far as the first few hundred of these are known. */
  function once(tell: Log['warn'], message: string, about: string, facts: LogFacts = {}): void {
    const known = told.get(message) ?? new Set()
    if (known.has(about) || known.size >= TOLD_MAX) return
    told.set(message, known.add(about))
    tell(message, facts)
  }

  return {
    /** Somebody uses a generation API whose conversations are not compacted. */
    uncompacted: (path: string): void => once(log.warn, UNCOMPACTED, path, { path }),
    /** A client leaves its conversation at the server. */
    stateful: (howToSendAll: string): void =>
      once(log.warn, `a conversation is kept at the server, and relayed unread: ${howToSendAll}`, ''),
    /** The window of a model had to be guessed. */
    guessed: (model: string): void => once(log.warn, GUESSED, model, { model: shown(model) }),
    /** A model that has answered is loaded with a smaller window than the request asks for. */
    loadedLess: (model: string, facts: Readonly<Record<string, number | null>>): void =>
      once(log.warn, LOADED_LESS, model, { model: shown(model), ...facts }),
    /** An upstream left out part of a prompt without saying so, or may have. */
    cut: (model: string, { certainty, promptTokens, expectedTokens, windowTokens }: CutPrompt): void =>
      once(log.warn, cutWords[certainty], model, {
        model: shown(model),
        prompt_tokens: promptTokens,
        expected_tokens: expectedTokens,
        window_tokens: windowTokens,
      }),
    /** A refusal has shown that the profile's window is too large for a model. */
    overruled: (profile: string, model: string, { tokens, overruledTokens }: ResolvedWindow): void => {
      const facts = { profile, model: shown(model), stated_tokens: tokens, window_tokens: overruledTokens }
      once(log.warn, OVERRULED, `${profile} ${shown(model)} ${tokens}`, facts)
    },
    /** An upstream could not be asked for its windows. */
    unasked: (upstream: string, trouble: string): void =>
      log.warn('an upstream could not be asked for its windows: set window.tokens in a profile', {
        upstream,
        trouble,
      }),
    /** A client asked for a WebSocket. */
    upgrade: (): void => once(log.info, UPGRADE, ''),
    /** An upstream refused a request for a key that its client did not choose, or for none. */
    keyRefused: (upstream: string, status: number, hint: string): void => {
      const message = 'an upstream refused the key that it got, or that it got none'
      const times = timesRefused(`${upstream} ${status} ${hint}`)
      if (times !== null) log.warn(message, { upstream, status, hint, times })
    },
  }
}

// --- internal ---

/** Names come from clients: more of them than this are no news. */
const TOLD_MAX = 500

const MODEL_CHARS_MAX = 200

const UNCOMPACTED =
  'relayed without compaction: set the client to chat completions to have conversations compacted'
const GUESSED =
  'the window of this model is not known and taken to be 128000: set window.tokens in a profile that matches it'
const LOADED_LESS =
  'the upstream has loaded this model with a smaller window than its client asks for (options.num_ctx): it may cut prompts without a word, or loads the model anew for each client. Have all clients ask for the same window, and for no more than the model has'
const OVERRULED =
  'the upstream refuses prompts that the profile allows, and what it states is used for an hour: set window.tokens to that'
const UPGRADE =
  'a client asked for a WebSocket, and was told to go on over plain HTTP: Codex does so by itself'

const cutWords = {
  known:
    'the upstream cut a prompt without saying so: start it with a larger context (Ollama: OLLAMA_CONTEXT_LENGTH), or set window.tokens in a profile that matches this model to what it runs with',
  suspected:
    'the upstream reports far fewer prompt tokens than were sent, and may have cut the prompt; nothing was concluded from it: if it cuts, set window.tokens in a profile that matches this model',
} as const satisfies Record<CutPrompt['certainty'], string>

function shown(model: string): string {
  return model.slice(0, MODEL_CHARS_MAX)
}
