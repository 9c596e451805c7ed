import { postOf } from './load.ts'

/** Stands in a body wherever a number that no other request has goes: ten digits. */
export const STAMP = '##########'

/** No number is used twice, whichever load it belongs to. */
let stamped = 0

/**
 * The same request with new numbers in it each time, so that nothing that remembers contents gets to know it. A buffer
 * for each connection: the one before was read whole when the connection asks again.
 */
export function freshRequests(options: {
  path: string
  /** JSON with `STAMP` in every text that is to be new. */
  body: string
  headers: Readonly<Record<string, string>>
  connections: number
}): (connection: number) => Buffer {
  const { path, body, headers, connections } = options
  const template = postOf(path, Buffer.from(body), headers)
  const places = placesOf(STAMP, template)
  const buffers = Array.from({ length: connections }, () => Buffer.from(template))

  return function nextRequest(connection) {
    const buffer = buffers[connection] ?? template
    stamped += 1
    const number = String(stamped).padStart(STAMP.length, '0')
    for (const place of places) buffer.write(number, place, 'latin1')
    return buffer
  }
}

/** Where a stamp stands in a request. */
export function placesOf(stamp: string, request: Buffer): readonly number[] {
  const places: number[] = []
  for (let at = request.indexOf(stamp); at !== -1; at = request.indexOf(stamp, at + stamp.length))
    places.push(at)
  return places
}
