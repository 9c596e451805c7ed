import type { ScriptedItem } from '../../support/responses/script.ts'
import { readReply } from '../../support/responses/living.ts'
import {
  startResponsesUpstream,
  type Overflow,
  type RecordedResponsesRequest,
} from '../../support/responses/responses-upstream.ts'
import { standBetween, type Exchange, type Stage } from '../stage.ts'

/** A Foldgate between a client and the strict Responses upstream, which answers each request as its script says. */
export type LivedStage = Pick<Stage, 'failures' | 'close'> & {
  readonly ask: (
    body: Buffer,
    authorization: string,
    script: readonly ScriptedItem[],
  ) => Promise<Exchange<RecordedResponsesRequest>>
}

type LivedStageOptions = {
  /** Foldgate's, as its file would say it. */
  readonly profile: object
  readonly windowTokens: number
  readonly statesUsage: boolean
  /** How a prompt over the window is refused. Default: a 400 with OpenAI's code. */
  readonly overflow?: Overflow
  /** Whether broken sequences are refused. Default `enforced`. */
  readonly rules?: 'enforced' | 'unchecked'
  readonly count: (text: string) => number
}

export async function openLivedStage({ profile, ...options }: LivedStageOptions): Promise<LivedStage> {
  let output: readonly ScriptedItem[] = []
  const upstream = await startResponsesUpstream({
    ...options,
    outputReserveChecked: true,
    reply: () => ({ output }),
  })
  const stage = await standBetween({
    upstream,
    profile,
    endpoint: 'responses',
    isReply: (text) => readReply(text) !== null,
    acceptedMs: () => null,
  })
  return {
    ...stage,
    ask: (body, authorization, script) => {
      output = script
      return stage.ask(body, authorization)
    },
  }
}
