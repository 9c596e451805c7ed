// profile one subject: node --cpu-prof
import { spawn } from 'node:child_process'
import { startFoldgate } from '/work/main/bench/subjects/foldgate.ts'
import { freePort } from '/work/main/bench/subjects/free-port.ts'
import { runLoad, postOf } from '/work/main/bench/load/load.ts'
const [path = '/v1/chat/completions', store, ms = '5000'] = process.argv.slice(2)
const port = await freePort()
const up = spawn(process.execPath, ['/work/main/bench/load/upstream-program.ts', String(port)], { stdio: 'inherit' })
await new Promise(r => setTimeout(r, 500))
const fg = await startFoldgate({ upstreamOrigin: `http://127.0.0.1:${port}`, ...(store === 'memory' ? { store: 'memory:' as const } : {}) })
const body = Buffer.from(JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'system', content: 's'.repeat(900) }, { role: 'user', content: 'u'.repeat(900) }] }))
const r = await runLoad({ origin: fg.origin, request: postOf(path, body), connections: 32, durationMs: Number(ms) })
console.log(r.requestsPerSecond)
process.kill(fg.pid!, 'SIGTERM'); await new Promise(r => setTimeout(r, 2000)); process.kill(fg.pid!, 'SIGTERM')
await new Promise(r => setTimeout(r, 1500))
up.kill(); process.exit(0)
