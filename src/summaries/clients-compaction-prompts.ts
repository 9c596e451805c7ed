import { endsOf } from '../compaction/history/read-message.ts'
import type { Pausable } from '../json/source.ts'
import wordings from './clients-compaction-prompts.json' with { type: 'json' }

/**
 * Whether a text asks for a summary of the conversation that it stands in: then the client is compacting by itself, and with
 * a summary of ours in its prompt it would summarise a summary. A request to summarise a paper, a file, or a conversation
 * that was pasted is none. In steps: an expression that is used for the first time is compiled,
 * too.
 */
export function* isCompactionPrompt(text: string): Pausable<boolean> {
  const lines = endsOf(text, ENDS_CHARS)
    .replace(/[’‘]/g, "'")
    .replace(/[ \t\r]+/g, ' ')
  // A line's end may begin a sentence, or stand in the middle of one; a blank line always begins one.
  const paragraphs = lines.split(/\n\s*\n/).map((paragraph) => paragraph.replaceAll('\n', ' '))
  const forms = [lines, paragraphs.join('\n')]
  for (const pattern of patterns) {
    yield
    if (forms.some((form) => pattern.test(form))) return true
  }
  return false
}

// --- internal ---

/** As much of a long text is looked at from each end: some clients put the transcript before or behind what they ask. */
const ENDS_CHARS = 4000

/**
 * How a client, by its name, or a person asks: the opening words of agents' compaction prompts, and what people write. Each
 * has a sample that it fits.
 */
type Wording = {
  /** A regular expression of the words that begin a sentence: in the middle of one they are talked about. */
  readonly phrase?: string
  /** The same behind the words that people begin a request with. */
  readonly request?: string
  /** The words, wherever they stand. */
  readonly pattern?: string
}

const SENTENCE_BEGINNING = String.raw`(?:^|[.!?:;>)\]*#\n-]) ?`

const REQUEST_BEGINNINGS = String.raw`(?:(?:please|now|ok(?:ay)?|then|first|so),? |(?:can|could|would|will) you (?:please )?|i(?:'d| would) like you to |i want you to |let's ){0,3}`

const patterns = wordings.map(({ phrase, request, pattern }: Wording) => {
  const words = request === undefined ? phrase : `${REQUEST_BEGINNINGS}${request}`
  return new RegExp(words === undefined ? (pattern ?? '') : `${SENTENCE_BEGINNING}${words}`, 'iu')
})
