import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { cheapUpstream, withCheapSummaries } from '../../support/cheap-summaries.ts'
import { startSummaryModel } from '../../support/summary-model.ts'
import type { Recording } from '../replay/recordings.ts'
import { openStage } from '../replay/stage.ts'
import type { Room } from './policy-sender.ts'
import { requestBody } from './request-body.ts'
import type { Sender } from './sender.ts'
import { wantsSummaries } from './wants-summaries.ts'

type FoldgateSenderOptions = {
  readonly recording: Recording
  /** As its file would say it. */
  readonly profile: object
  readonly room: Room
  /** The upstream's. */
  readonly count: (text: string) => number
}

/**
 * A Foldgate of its own before a recording upstream, which is asked for one conversation as an agent would. Where its
 * profile asks for summaries, a stand-in writes them, which is an upstream of its own: what the recording upstream gets
 * is the client's. An agent's next request comes after its tools have run; here it comes once nothing is asked of the
 * stand-in any more.
 */
export async function openFoldgateSender(options: FoldgateSenderOptions): Promise<Sender> {
  const { recording, profile, room, count } = options
  const all = recording.messages.map(({ message }) => message)
  const model = wantsSummaries(profile) ? await startSummaryModel() : null
  const stage = await openStage({
    profile: model === null ? profile : withCheapSummaries(withoutNoWriter(profile)),
    ...(model !== null && { upstreams: cheapUpstream(model) }),
    windowTokens: room.windowTokens,
    template: 'lenient',
    // A recording that is broken itself has to get through as well; what is sent is compared with it below.
    rules: ruleBreaks(all, 'lenient').length === 0 ? 'enforced' : 'unchecked',
    statesUsage: true,
    count,
  })
  return {
    send: async (point) => {
      const texts = recording.messages.slice(0, point).map(({ text }) => text)
      const exchange = await stage.ask(requestBody(recording, texts, room.reserveTokens), 'Bearer agent')
      await model?.quiet()
      const summaries = { summaryCalls: model?.calls.length ?? 0, summaryTokens: model?.promptTokens() ?? 0 }
      model?.forget()
      const received = exchange.received.at(-1) ?? null
      const came = ruleBreaks(all.slice(0, point), 'lenient').length
      const sent = received === null ? 0 : ruleBreaks(received.messages, 'lenient').length
      return {
        received,
        faults: {
          refused: exchange.received.filter(({ rejected }) => rejected !== null).length,
          errors: exchange.isReply ? 0 : 1,
          failedOpen: exchange.action.startsWith('failed-open') ? 1 : 0,
          broken: sent > came ? 1 : 0,
        },
        summaries,
      }
    },
    close: async () => {
      await stage.close()
      await model?.close()
    },
  }
}

// --- internal ---

/** A resolved profile says that nobody writes its summaries: then the stand-in does. */
function withoutNoWriter(profile: object): object {
  if (!('summary' in profile) || !isObject(profile.summary)) return profile
  const named = Object.entries(profile.summary).filter(
    ([key, value]) => value !== null || (key !== 'upstream' && key !== 'model'),
  )
  return { ...profile, summary: Object.fromEntries(named) }
}
