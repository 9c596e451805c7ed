import { startStrictUpstream, type StrictUpstream } from './strict-upstream/strict-upstream.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'

/** A strict upstream that counts as the model's own tokenizer does, and always says the same. */
export async function exactUpstream(windowTokens: number): Promise<StrictUpstream> {
  const { count } = await loadCounter('o200k_base')
  return startStrictUpstream({
    windowTokens,
    template: 'lenient',
    outputReserveChecked: true,
    count,
    reply: () => ({ content: 'Done.' }),
  })
}
