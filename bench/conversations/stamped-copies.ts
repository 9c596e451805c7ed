import { placesOf } from '../load/fresh-requests.ts'

/**
 * Makes copies of a request in which a stamp is another one, which is much cheaper than making each conversation anew.
 * Both stamps have the same length. Throws where the first does not stand in the request.
 */
export function stampedCopies(request: Buffer, stamp: string): (other: string) => Buffer {
  const places = placesOf(stamp, request)
  if (places.length === 0) throw new Error(`the request holds no ${stamp}`)
  return (other) => {
    if (other.length !== stamp.length) throw new Error(`${other} is not as long as ${stamp}`)
    const copy = Buffer.from(request)
    for (const at of places) copy.write(other, at, 'latin1')
    return copy
  }
}
