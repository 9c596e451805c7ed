import { FoldgateError } from '../../src/errors.ts'
import type { Ask } from '../../src/summaries/summary-call.ts'

/** Asks over a real socket, with the errors that the rim raises; each call may take so long. */
export function askByFetch(url: string, callMs = 60_000): Ask {
  return async function askUpstream({ body }, signal) {
    let answer: Response
    const box = AbortSignal.timeout(callMs)
    const either = AbortSignal.any([signal, box])
    try {
      answer = await fetch(`${url}/chat/completions`, { method: 'POST', body, signal: either })
    } catch (error) {
      signal.throwIfAborted()
      if (box.aborted) throw new FoldgateError('upstream_timeout', 'It took too long.')
      throw new FoldgateError('upstream_unreachable', 'Nobody listens there.', { cause: error })
    }
    return {
      status: answer.status,
      contentType: answer.headers.get('content-type') ?? '',
      body: await answer.text(),
    }
  }
}
