import { fork, type ChildProcess } from 'node:child_process'
import { runOrder, type OrderReport, type RulesOrder } from './run-order.ts'

/** Does orders in some processes at a time, each taking the next when it is done; the reports in the orders' order. */
export async function inWorkers(
  orders: readonly RulesOrder[],
  workers: number,
): Promise<readonly OrderReport[]> {
  const waiting = [...orders.entries()]
  const reports: OrderReport[] = []
  const work = async (): Promise<void> => {
    const child = fork(process.argv[1] ?? '', [], { stdio: 'inherit' })
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [place, order] = next
        reports[place] = await ask(child, order)
      }
    } finally {
      child.disconnect()
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, orders.length) }, work))
  return reports
}

/** In the process of a worker: does the orders that come, until no more can. */
export function answerOrders(): void {
  process.on('message', (order: RulesOrder) => {
    runOrder(order).then(
      (report) => process.send?.(report),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        process.exit(1)
      },
    )
  })
}

// --- internal ---

function ask(child: ChildProcess, order: RulesOrder): Promise<OrderReport> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`a worker ended with ${code} and without a report`))
    child.once('exit', ended)
    child.once('message', (report: OrderReport) => {
      child.off('exit', ended)
      resolve(report)
    })
    child.send(order)
  })
}
