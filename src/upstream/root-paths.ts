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
