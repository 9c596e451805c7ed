import { dialects } from '../dialects/dialects.ts'

/** What makes a client send all of the conversation that it leaves at the server. */
export const HOW_TO_SEND_ALL = dialects.flatMap(({ howToSendAll }) => howToSendAll ?? []).join('; ')
