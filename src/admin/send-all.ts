import { dialects } from '../dialects/dialects.ts'

/** The same of one dialect, by its name; of all if none has that name. */
export function sendAllAdvice(dialect: string | null | undefined): string {
  return dialects.find(({ name }) => name === dialect)?.howToSendAll ?? HOW_TO_SEND_ALL
}

/** What makes a client send all of the conversation that it leaves at the server. */
export const HOW_TO_SEND_ALL = dialects.flatMap(({ howToSendAll }) => howToSendAll ?? []).join('; ')
