import type { SourceFile } from './source-files.ts'

/**
 * Members and values of the three wire formats that mean nothing else: code that names one knows what a request or an
 * answer looks like.
 */
const wireNames: readonly string[] = [
  // chat completions
  'tool_call_id',
  'function_call',
  'choices',
  'finish_reason',
  'delta',
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
  'image_url',
  'input_audio',
  'max_completion_tokens',
  'stream_options',
  'include_usage',
  'response_format',
  'prompt_tokens_details',
  // Responses
  'call_id',
  'function_call_output',
  'encrypted_content',
  'previous_response_id',
  'item_reference',
  'max_output_tokens',
  'input_text',
  'output_text',
  'compaction_trigger',
  // Messages
  'tool_use',
  'tool_result',
  'tool_use_id',
  'cache_control',
  'content_block_delta',
  'stop_reason',
  'redacted_thinking',
  'input_tokens',
  'output_tokens',
]

/** Names that Foldgate's own settings, log and events have, too: these are read from a wire format only as `record['name']`. */
const sharedNames: readonly string[] = ['tool_calls', 'prompt_tokens', 'completion_tokens']

/**
 * The lines outside of `dialects` that name a wire format. The demo is a client and may. What servers write in their
 * errors is recognised in `overflow`: a name within a pattern or a sample of one is a server's word, and only a member
 * that is read counts there.
 */
export function wireLines(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !/^(?:dialects|demo)\//.test(path))
    .flatMap(({ path, text }) => {
      const named = path.startsWith('overflow/') ? WIRE_MEMBER : WIRE_NAME
      return text
        .split('\n')
        .flatMap((line, at) =>
          !COMMENT.test(line) && named.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
        )
    })
}

/** The imports of one dialect's folder by a module that is not in it: only the list of dialects knows each of them. */
export function importsOfDialects(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path !== LIST_OF_DIALECTS)
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => {
          const dialect = /^dialects\/[^/]+\//.exec(target)?.[0]
          return dialect !== undefined && !sharedFolders.has(dialect) && !path.startsWith(dialect)
        })
        .map((target) => `${path} imports ${target}`),
    )
}

// --- internal ---

const LIST_OF_DIALECTS = 'dialects/dialects.ts'

/** Folders in `dialects` that belong to none of them. */
const sharedFolders: ReadonlySet<string> = new Set(['dialects/content/', 'dialects/media/'])

const WIRE_MEMBER = new RegExp(`\\[['"](?:${[...wireNames, ...sharedNames].join('|')})['"]\\]`)

const WIRE_NAME = new RegExp(
  `(?<![\\w.-])(?:${wireNames.join('|')})(?![\\w-])|['"](?:${sharedNames.join('|')})['"]`,
)

const COMMENT = /^\s*(?:\/\/|\/?\*)/
