import { PLAIN_MODEL } from './models.ts'
import { STAMP } from './fresh-requests.ts'

/** Longest text of one message or one input, in characters. */
const TEXT_CHARS_MAX = 4000

/** A request for embeddings of texts, of about so many bytes: a path that Foldgate does not read. */
export function embeddingsBody(bytes: number): string {
  return JSON.stringify({ model: PLAIN_MODEL, input: texts(bytes - 60) })
}

/** A chat of about so many bytes: instructions, then questions and answers in turn. */
export function chatBody(bytes: number, more: object = {}): string {
  const overhead = 200
  const instructions = `Conversation ${STAMP}. You answer questions about a project's files. Be brief.`
  const turns = texts(bytes - overhead, 3)
  return JSON.stringify({
    model: PLAIN_MODEL,
    ...more,
    messages: [
      { role: 'system', content: instructions },
      ...turns.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
    ],
  })
}

/** The same chat as a request for a response. */
export function responseBody(bytes: number): string {
  const { model, messages }: { model: string; messages: object[] } = JSON.parse(chatBody(bytes))
  return JSON.stringify({
    model,
    store: false,
    input: messages.map((message) => ({ type: 'message', ...message })),
  })
}

/** The same chat as a request for a message. */
export function messageBody(bytes: number): string {
  const { model, messages }: { model: string; messages: { content: string }[] } = JSON.parse(chatBody(bytes))
  return JSON.stringify({
    model,
    max_tokens: 1_024,
    system: messages[0]?.content,
    messages: messages.slice(1),
  })
}

/** A chat of about so many bytes, nearly all of them one picture: text of that size would fit no window. */
export function pictureBody(bytes: number): string {
  const picture = Buffer.alloc(Math.floor(((bytes - 600) * 3) / 4), 'a picture of nothing').toString('base64')
  return JSON.stringify({
    model: PLAIN_MODEL,
    messages: [
      { role: 'system', content: `Conversation ${STAMP}. You describe pictures.` },
      {
        role: 'user',
        content: [
          { type: 'text', text: `${STAMP} What is in this picture?` },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } },
        ],
      },
    ],
  })
}

// --- internal ---

/** Texts that come to so many characters together: an odd number of them, and no fewer than `countMin`. */
function texts(chars: number, countMin = 1): string[] {
  const count = Math.max(countMin, Math.ceil(chars / TEXT_CHARS_MAX)) | 1
  const each = Math.floor(chars / count) - 10
  return Array.from({ length: count }, (_, index) => `${STAMP} ${prose(each - STAMP.length, index + 1)}`)
}

const words =
  'the a of in to that server file path when error function returns value test line config module import request answer stream chunk window token because before after should change build fails with null timeout parser index buffer client retries and then once more reads writes whole message order ledger cursor'.split(
    ' ',
  )

/** Text as a conversation about code has it: words, names, numbers and paths. The same seed gives the same text. */
function prose(chars: number, seed: number): string {
  let state = seed
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  let text = ''
  while (text.length < chars) {
    const kind = next(20)
    if (kind === 0) text += `src/${words[next(words.length)]}/${words[next(words.length)]}.ts:${next(900)} `
    else if (kind === 1) text += `${next(100_000)} `
    else if (kind === 2) text += `${words[next(words.length)]}. `
    else text += `${words[next(words.length)]} `
  }
  return text.slice(0, chars)
}
