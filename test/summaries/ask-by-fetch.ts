import { FoldgateError } from '../../src/errors.ts'
import type { Ask } from '../../src/summaries/order.ts'

/** Asks over a real socket, with the errors that the rim raises. */
export function askByFetch(url: string): Ask {
  return async function askUpstream({ body }, signal) {
    let answer: Response
    try {
      answer = await fetch(`${url}/chat/completions`, { method: 'POST', body, signal })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw new FoldgateError('upstream_unreachable', 'Nobody listens there.', { cause: error })
    }
    return {
      status: answer.status,
      contentType: answer.headers.get('content-type') ?? '',
      retryAfter: answer.headers.get('retry-after'),
      body: await answer.text(),
    }
  }
}
