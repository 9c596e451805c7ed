/**
 * A client that takes all it can get, as a process of its own: over many connections one conversation of ten megabytes
 * after another, none of which was ever seen before. The port is its argument. It begins at `go`; at `stop` it waits a
 * while for what it has asked, and tells how many answers it has had.
 */
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { post } from '../../attacks/post.ts'

const CONNECTIONS = 8

/** It leaves what has not been answered by then, in milliseconds. */
const STOPPING_MS = 15_000

const BODY_BYTES = 10_000_000

/** Stands in every message, for a number that no other has. */
const STAMP = '##########'

/** Where the numbers stand in each body. */
const places = new WeakMap<Buffer, readonly number[]>()

const port = Number(process.argv[2])
const agents: Agent[] = []
let isGoing = false
let stamped = 0
let answered = 0
/** What has been asked and not answered yet. */
const underWay = new Set<Buffer>()

process.on('message', (told) => {
  isGoing = told === 'go'
  if (told === 'stop') void tellWhenDone()
})
const kinds = [message(1_400), message(40)]
await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => askOn(kinds[index % 2] ?? '')))

async function askOn(each: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(agent)
  const count = Math.floor(BODY_BYTES / each.length)
  const body = Buffer.from(`{"model":"m","messages":[${`${each},`.repeat(count)}${each}]}`)
  for (;;) {
    if (!isGoing) {
      await pause(20)
      continue
    }
    stamp(body)
    underWay.add(body)
    const { status } = await post({ port, body, agent, key: 'sk-unfair' })
    underWay.delete(body)
    if (status === 200) answered += 1
    // Whoever is refused tries again at once.
    else await pause(1)
  }
}

async function tellWhenDone(): Promise<void> {
  for (const untilMs = performance.now() + STOPPING_MS; underWay.size > 0; await pause(20)) {
    if (performance.now() > untilMs) for (const agent of agents) agent.destroy()
  }
  process.send?.(answered)
}

function message(characters: number): string {
  return `{"role":"user","content":"${STAMP} ${'reads rows and writes them. '.repeat(60).slice(0, characters)}"}`
}

/** Gives every message a number of its own, in place: later ones find the places of the first. */
function stamp(body: Buffer): void {
  for (const at of placesIn(body)) {
    stamped += 1
    body.write(String(stamped).padStart(STAMP.length, '0'), at, 'latin1')
  }
}

function placesIn(body: Buffer): readonly number[] {
  const known = places.get(body)
  if (known !== undefined) return known
  const found: number[] = []
  for (let at = body.indexOf(STAMP); at !== -1; at = body.indexOf(STAMP, at + STAMP.length)) found.push(at)
  places.set(body, found)
  return found
}
