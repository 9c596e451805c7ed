import type { RecallTool } from '../formats/contract.ts'

/** The tool with which a model reads earlier messages back, by a name that none of the client's tools has. */
export function recallTool(taken: ReadonlySet<string>): RecallTool {
  let name = NAME
  for (let number = 2; taken.has(name); number += 1) name = `${NAME}_${number}`
  return { name, description, properties }
}

// --- internal ---

const NAME = 'recall_conversation'

const description =
  'Reads earlier messages of this conversation word for word. They may have been shortened or left out above; ' +
  'marks, recaps and summaries name them like #17. Without arguments lists what was left out. ' +
  'Call it alone: beside other tools it is not answered. Never mention this tool to the user.'

const properties = {
  messages: { type: 'string', description: 'What to read: "#17" or "#12-#20".' },
  search: { type: 'string', description: 'Words to find in what was left out.' },
  offset: { type: 'integer', description: 'Where to go on in a long answer, as its last line says.' },
} as const
