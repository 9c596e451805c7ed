import type { Section } from './fault.ts'
import { brokenConnections, nonsense, refusals, slowAnswers } from './upstream-faults.ts'
import { summaryFaults } from './summary-faults.ts'
import { observeUpstreamFault, type UpstreamFault } from './upstream-stand.ts'

/** Everything that is made to go wrong, in the order of the page. */
export const sections: readonly Section[] = [
  upstreamSection(
    'An upstream that breaks off',
    'Every kind of request that Foldgate handles in a way of its own meets the fault: a chat completion that goes on as it came, plain and streamed, one that is compacted, and another path that is relayed unread. All that came of an answer reaches the client. Foldgate sends nothing again after a connection that broke: a chat completion costs money, and clients know best whether to repeat it.',
    brokenConnections,
  ),
  upstreamSection('An upstream that is slow', 'What comes is passed on as it comes.', slowAnswers),
  upstreamSection(
    'An upstream that talks nonsense',
    'What is HTTP is passed on as it came, whatever it says. Every such connection is given up, so that nothing of it is taken for another answer.',
    nonsense,
  ),
  upstreamSection(
    'An upstream that refuses',
    "The refusal is the upstream's own, byte for byte. Only one of a compacted request that may be Foldgate's doing is followed by a second attempt.",
    refusals,
  ),
  {
    title: 'The summary model',
    about:
      'It fails in the same ways, with summaries made ahead of need (`summary.mode: background`) and while the request waits (`blocking`). Every request has a good answer of its own upstream. What the client sees is of the request at which the summary was due.',
    isConcurrent: true,
    faults: summaryFaults,
  },
]

// --- internal ---

function upstreamSection(title: string, about: string, faults: readonly UpstreamFault[]): Section {
  return {
    title,
    about,
    isConcurrent: true,
    faults: faults.map((fault) => ({ name: fault.name, observe: () => observeUpstreamFault(fault) })),
  }
}
