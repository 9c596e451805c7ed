import { isIPv4 } from 'node:net'

/**
 * Where an upstream is, taken apart once at the start. Requests are joined to it as bytes (`target.ts`), so
 * that nothing a client sends can change scheme, host or port.
 */
export type UpstreamAddress = Readonly<ReturnType<typeof parseUpstreamAddress>>

/** Takes the URL of an upstream's settings apart: http or https, without user info, query and fragment. */
export function parseUpstreamAddress(text: string) {
  const { origin, hostname, pathname } = new URL(text)
  const path = pathname.replace(/\/+$/, '')
  return {
    /** Scheme, host and port, as undici wants them. */
    origin,
    /** The URL's own path without a slash at its end; empty for the root. */
    path,
    /** Without a port. */
    hostname,
    /** For messages and the log. */
    display: origin + path,
    /** The machine itself: never reached through an HTTP proxy. */
    loopback: isLoopbackName(hostname),
    /** One of Anthropic's own servers. */
    isAnthropic: isAnthropic(hostname),
  }
}

/**
 * Whether a host name, without a port, can only mean this machine (RFC 6761 section 6.3). What is no name is none of
 * its names, whatever it ends with.
 */
export function isLoopbackName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  if (name === '::1' || name === '[::1]') return true
  const labels = name.split('.')
  if (labels.at(-1) === 'localhost') return labels.every((label) => /^[a-z0-9_-]+$/.test(label))
  return isIPv4(name) && labels[0] === '127'
}

/** Whether a host is Anthropic's own. */
export function isAnthropic(hostname: string): boolean {
  return /(?:^|\.)anthropic\.com\.?$/i.test(hostname)
}

/** Whether a key is a token of OAuth, which a subscription has instead of a key of the API. */
export function isSubscriptionToken(key: string): boolean {
  return key.startsWith('sk-ant-oat')
}

/** Whether a request asks for a beta of Anthropic's. The flag may stand in any of several headers of the name. */
export function asksForBeta(rawHeaders: readonly string[], flag: RegExp): boolean {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'anthropic-beta' && flag.test(rawHeaders[at + 1] ?? '')) return true
  return false
}

/**
 * Whether a path, as it came, is one that model servers serve beside their API, at their root. Nothing is decoded: what
 * is spelt with escapes is another path.
 */
export function isRootPath(path: string): boolean {
  if (path === '/') return true
  const end = path.indexOf('/', 1)
  // llama.cpp's slots are looked at; what is below them saves and erases.
  if (path.startsWith('/slots/')) return false
  return rootNames.has(path.slice(1, end === -1 ? path.length : end))
}

/**
 * Where a server's root is whose API is at `path`: that without the version at its end, `/v1` say. Null where there is
 * none: nobody knows then what of the path is the API's.
 */
export function rootOf(path: string): string | null {
  return /^(.*)\/v\d+$/.exec(path)?.[1] ?? null
}

// --- internal ---

/**
 * First segments of root paths. Left out is what servers serve as a part of their API, too (`/models`, `/completions`,
 * `/rerank`): a client whose base URL has no `/v1` means that. And what administers a server (`/sleep`, `/flush_cache`,
 * `/lora-adapters`, what is below `/slots`): its clients have nothing to do with it. Ollama has both below `/api`.
 */
const rootNames: ReadonlySet<string> = new Set([
  // Ollama, LM Studio and KoboldCpp: everything of their own.
  'api',
  // State and figures: most of them. Without `/u/NAME` the two with a z are Foldgate's own.
  'health',
  'healthz',
  'load',
  'metrics',
  'ping',
  'readyz',
  'version',
  // llama.cpp
  'apply-template',
  'completion',
  'embedding',
  'infill',
  'props',
  'slots',
  // llama.cpp, vLLM, SGLang, TGI
  'detokenize',
  'tokenize',
  // vLLM
  'is_sleeping',
  'pooling',
  'tokenizer_info',
  // vLLM, SGLang
  'classify',
  'invocations',
  'server_info',
  // SGLang
  'encode',
  'generate',
  'get_load',
  'get_model_info',
  'get_server_info',
  'health_generate',
  'model_info',
  // TGI
  'chat_tokenize',
  'generate_stream',
  'info',
])
