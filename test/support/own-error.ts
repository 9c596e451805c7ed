/**
 * The code of an error that Foldgate answers itself, in the shape of whatever API was asked; null for anything else. Of what
 * Anthropic's servers say none is without the name of its request.
 */
export function ownErrorCode(body: Buffer | string): string | null {
  const isOwn = body.includes('"type":"foldgate_error"') || body.includes('},"request_id":null}')
  return isOwn ? (/"code":"(\w+)"/.exec(body.toString())?.[1] ?? null) : null
}
