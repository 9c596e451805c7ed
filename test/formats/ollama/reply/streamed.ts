/** A plain answer, as Ollama writes one. */
export const plainAnswer = (message: object, reason: string, counts: object = {}) => ({
  model: 'm',
  created_at: '2026-11-29T12:00:00Z',
  message: { role: 'assistant', ...message },
  done: true,
  done_reason: reason,
  total_duration: 9,
  load_duration: 1,
  ...counts,
})

/** The lines of a stream, each with what is said in it, and the last one. */
export const streamOf = (messages: readonly object[], counts: object = {}, reason = 'stop') => [
  ...messages.map(
    (message) =>
      `${JSON.stringify({ model: 'm', created_at: '2026-11-29T12:00:00Z', message: { role: 'assistant', content: '', ...message }, done: false })}\n`,
  ),
  `${JSON.stringify(plainAnswer({ content: '' }, reason, counts))}\n`,
]
