import { ask, type Attack, type Json } from '../attack.ts'
import { addedTools, call, itemsAttack, outputOf, PROSE, said, thought } from './responses.ts'

/** Of the messages of a conversation 50,000 are read. */
const COUNT = 48_000

/**
 * Very many items of the Responses API. What reads them walks over replies of any number of items, looks for the thoughts
 * before one, for the call of an output, and for what holds for all that follows: whoever does so for each takes the square.
 */
export const items: readonly Attack[] = [
  itemsAttack('a reply of calls under ids', COUNT, (index) => call(index)),
  itemsAttack('a reply of calls under ids, behind a thought', COUNT, (index) =>
    index === 0 ? thought(index, 'gAAAAAB') : call(index),
  ),
  itemsAttack('a reply of items of an unknown type', COUNT, unknown),
  itemsAttack('unknown items between replies', COUNT, alternating(unknown, said)),
  itemsAttack(
    'calls of programs and their outputs',
    COUNT,
    alternating((index) => call(index, ',"caller":{"type":"program"}'), answer),
  ),
  itemsAttack('thoughts, each with a message', COUNT, alternating(shortThought, said)),
  itemsAttack(
    'turns with thoughts',
    COUNT,
    alternating(() => ask, shortThought, said),
  ),
  itemsAttack(
    'turns with thoughts, to be compacted',
    COUNT / 2,
    alternating(() => ask, shortThought, said),
    {
      path: 'responses/compact',
    },
  ),
  itemsAttack(
    'turns with thoughts, with summaries, recall and an archive',
    COUNT / 4,
    alternating(
      () => ask,
      shortThought,
      (index) => said(index, PROSE.repeat(8)),
    ),
    { profile: 'archiving' },
  ),
  itemsAttack('outputs of one id', COUNT, (index) => (index < COUNT / 2 ? call(0) : outputOf(0, '"Done."'))),
  itemsAttack('outputs in the reverse order of their calls', COUNT, (index) =>
    index < COUNT / 2 ? call(index) : outputOf(COUNT - 1 - index, '"Done."'),
  ),
  itemsAttack('outputs without calls', COUNT, (index) => outputOf(index, '"Done."')),
  itemsAttack(
    'compactions of the server',
    COUNT,
    () => '{"type":"compaction","encrypted_content":"gAAAAAB"}',
  ),
  itemsAttack(
    'updates of the configuration',
    COUNT,
    () => '{"type":"configuration_update","reasoning":{"effort":"low"}}',
    { isQuick: true },
  ),
  itemsAttack('additional tools', COUNT, addedTools),
  itemsAttack(
    'additional tools between turns',
    COUNT,
    alternating(addedTools, () => ask, addedTools, said),
  ),
  itemsAttack(
    'additional tools, with summaries',
    COUNT / 4,
    alternating(addedTools, () => ask, said),
    {
      profile: 'archiving',
    },
  ),
  itemsAttack(
    'screenshots',
    COUNT / 2,
    alternating(
      (index) => `{"type":"computer_call","call_id":"c${index}","action":{"type":"screenshot"}}`,
      (index) =>
        `{"type":"computer_call_output","call_id":"c${index - 1}","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,iVBORw0KGgo="}}`,
    ),
  ),
  itemsAttack('items without a type', COUNT, (index) => `{"id":null,"n":${index}}`),
  itemsAttack('items with a key twice', COUNT, () => '{"type":"message","role":"user","role":"user"}'),
  itemsAttack('tiny items', COUNT, () => '{"role":"user","content":"a"}'),
]

// --- internal ---

/** One after the other, over and over. */
function alternating(...kinds: readonly ((index: number) => Json)[]): (index: number) => Json {
  return (index) => kinds[index % kinds.length]?.(index) ?? ask
}

function unknown(index: number): string {
  return `{"type":"telepathy","id":"x_${index}"}`
}

function shortThought(index: number): Json {
  return thought(index, 'gAAAAAB')
}

/** Of the call before it. */
function answer(index: number): Json {
  return outputOf(index - 1, '"Done."')
}
