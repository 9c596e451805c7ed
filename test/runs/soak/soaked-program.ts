import { startFoldgateProgram, type FoldgateProgram } from '../../support/foldgate-program.ts'

/** The real program before an upstream, with its store in a file of its own, and an inspector that tells what lives. */
export function startSoaked(options: {
  readonly upstream: string
  readonly settings: object
  readonly profile: object
}): Promise<FoldgateProgram> {
  return startFoldgateProgram({
    settings: { ...options.settings, upstreams: { default: { url: options.upstream } } },
    profiles: { default: options.profile },
    nodeFlags: ['--inspect=127.0.0.1:0'],
    admin: false,
  })
}
