import { freePort } from '../support/free-port.ts'

/** The flag that opens the admin listener, and its address. */
export async function adminPlace() {
  const port = await freePort()
  return { flags: { 'admin-port': String(port) }, port, origin: `http://127.0.0.1:${port}` }
}

export type AdminAnswer = {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
  /** The code of an error; null where it is none. */
  readonly code: string | null
}

export async function askAdmin(origin: string, path: string, init: RequestInit = {}): Promise<AdminAnswer> {
  const answer = await fetch(origin + path, init)
  const text = await answer.text()
  const code = /"type":"foldgate_error".*"code":"(\w+)"/.exec(text)?.[1] ?? null
  return { status: answer.status, header: (name) => answer.headers.get(name), text, code }
}

/** `DELETE /conversations/ID`. */
export const deleteConversation = (
  origin: string,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<AdminAnswer> => askAdmin(origin, `/conversations/${id}`, { method: 'DELETE', headers })
