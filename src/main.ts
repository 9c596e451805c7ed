#!/usr/bin/env node
// Nothing is imported before the version is known: older Nodes fail on the syntax of what we use.
const wanted = [22, 19] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  process.stderr.write(
    `foldgate needs Node ${wanted.join('.')} or later; this is Node ${process.versions.node}.\n`,
  )
  process.exitCode = 1
} else {
  const { run } = await import('./cli.ts')
  process.exitCode = await run()
}
