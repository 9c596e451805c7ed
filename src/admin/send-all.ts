import { dialects } from '../formats/formats.ts'

/** The same of one dialect, by its name; of all if none has that name. */
export function sendAllAdvice(dialect: string | null | undefined): string {
  return dialects.find(({ name }) => name === dialect)?.howToSendAll ?? HOW_TO_SEND_ALL
}

/** The same in few words: what follows a semicolon is for one library. */
export function sendAllShortly(dialect: string | null): string {
  const advice = dialects.find(({ name }) => name === dialect)?.howToSendAll
  return advice?.split(';')[0] ?? 'have the client send all of it'
}

/** What makes a client send all of the conversation that it leaves at the server. */
export const HOW_TO_SEND_ALL = dialects.flatMap(({ howToSendAll }) => howToSendAll ?? []).join('; ')
