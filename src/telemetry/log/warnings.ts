import type { Log } from './log.ts'
import type { CutPrompt } from '../../models/learn.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import { createThrottle } from './throttle.ts'

export type Warnings = ReturnType<typeof createWarnings>

/** What an operator is told once, and how it is mended. */
export function createWarnings(log: Log) {
  const timesRefused = createThrottle({ nowMs: () => performance.now() })
  const cut = once((_, model: string, seen: CutPrompt) =>
    log.warn(cutWords[seen.certainty], {
      model: shown(model),
      prompt_tokens: seen.promptTokens,
      expected_tokens: seen.expectedTokens,
      window_tokens: seen.windowTokens,
    }),
  )
  const overruled = once((_, facts: Record<string, string | number | null>) =>
    log.warn(
      'the upstream refuses prompts that the profile allows, and what it states is used for an hour: set window.tokens to that',
      facts,
    ),
  )
  const upgrade = once(() =>
    log.info(
      'a client asked for a WebSocket, and was told to go on over plain HTTP: Codex does so by itself',
    ),
  )
  return {
    /** Somebody uses a generation API whose conversations are not compacted. */
    uncompacted: once((path) =>
      log.warn(
        'relayed without compaction: set the client to chat completions to have conversations compacted',
        { path },
      ),
    ),
    /** A client leaves its conversation at the server. */
    stateful: once((howToSendAll) =>
      log.warn(`a conversation is kept at the server, and relayed unread: ${howToSendAll}`, {}),
    ),
    /** The window of a model had to be guessed. */
    guessed: once((model) =>
      log.warn(
        'the window of this model is not known and taken to be 128000: set window.tokens in a profile that matches it',
        { model: shown(model) },
      ),
    ),
    /** An upstream left out part of a prompt without saying so, or may have. */
    cut: (model: string, seen: CutPrompt): void => cut(`${seen.certainty} ${model}`, model, seen),
    /** A window was found: told where a refusal has shown that the profile's is too large for a model. */
    overruled: (profile: string, model: string, { tokens, overruledTokens }: ResolvedWindow): void => {
      if (overruledTokens === null) return
      overruled(`${profile} ${shown(model)} ${tokens}`, {
        profile,
        model: shown(model),
        stated_tokens: tokens,
        window_tokens: overruledTokens,
      })
    },
    /** An upstream could not be asked for its windows. */
    unasked: (upstream: string, trouble: string): void =>
      log.warn('an upstream could not be asked for its windows: set window.tokens in a profile', {
        upstream,
        trouble,
      }),
    /** A client asked for a WebSocket. */
    upgrade: (): void => upgrade(''),
    /** An upstream refused a request for a key that its client did not choose, or for none. */
    keyRefused: (upstream: string, status: number, hint: string): void => {
      const times = timesRefused(`${upstream} ${status} ${hint}`)
      if (times !== null)
        log.warn('an upstream refused the key that it got, or that it got none', {
          upstream,
          status,
          hint,
          times,
        })
    },
  }
}

// --- internal ---

/** Names come from clients: more of them than this are no news. */
const TOLD_MAX = 500

const MODEL_CHARS_MAX = 200

const cutWords = {
  known:
    'the upstream cut a prompt without saying so: start it with a larger context (Ollama: OLLAMA_CONTEXT_LENGTH), or set window.tokens in a profile that matches this model to what it runs with',
  suspected:
    'the upstream reports far fewer prompt tokens than were sent, and may have cut the prompt; nothing was concluded from it: if it cuts, set window.tokens in a profile that matches this model',
} as const satisfies Record<CutPrompt['certainty'], string>

function shown(model: string): string {
  return model.slice(0, MODEL_CHARS_MAX)
}

/** Calls `tell` once for each distinct text, for the first few hundred of them. */
function once<More extends unknown[]>(
  tell: (text: string, ...more: More) => void,
): (text: string, ...more: More) => void {
  const told = new Set<string>()
  return (text, ...more) => {
    if (told.has(text) || told.size >= TOLD_MAX) return
    told.add(text)
    tell(text, ...more)
  }
}
