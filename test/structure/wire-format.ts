import type { SourceFile } from './source-files.ts'

/**
 * Members and values of the three wire formats that mean nothing else: whoever names one knows what a request or an
 * answer looks like.
 */
const wireNames: readonly string[] = [
  // chat completions
  'tool_calls',
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
  'prompt_tokens',
  'completion_tokens',
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

/** The lines outside of `dialects` that name a wire format; the demo is a client and may. */
export function wireLines(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !/^(?:dialects|demo)\//.test(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => (isWireLine(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    )
}

// --- internal ---

const WIRE_NAME = new RegExp(`(?<![\\w.-])(?:${wireNames.join('|')})(?![\\w-])`)

const COMMENT = /^\s*(?:\/\/|\/?\*)/

function isWireLine(line: string): boolean {
  return !COMMENT.test(line) && WIRE_NAME.test(line)
}
