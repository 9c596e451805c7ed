import { fork, type ChildProcess } from 'node:child_process'

export type Workers<Order, Report> = {
  /**
   * Does orders in some processes of the same command, each taking the next when it is done with one; the reports in the
   * order of the orders.
   */
  readonly inWorkers: (orders: readonly Order[], workers: number) => Promise<readonly Report[]>
  /** In such a process: does the orders that come, until no more can. */
  readonly answerOrders: () => void
}

/** The processes of a command whose work is to do orders, each by itself. */
export function workersFor<Order extends object, Report extends object>(
  run: (order: Order) => Promise<Report>,
): Workers<Order, Report> {
  return {
    async inWorkers(orders, workers) {
      const waiting = [...orders.entries()]
      const reports: Report[] = []
      const work = async (): Promise<void> => {
        const child = fork(process.argv[1] ?? '', [], { stdio: 'inherit' })
        try {
          for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
            const [place, order] = next
            reports[place] = await answered(child, order)
          }
        } finally {
          child.disconnect()
        }
      }
      await Promise.all(Array.from({ length: Math.min(workers, orders.length) }, work))
      return reports
    },

    answerOrders() {
      process.on('message', (order: Order) => {
        run(order).then(
          (report) => process.send?.(report),
          (error: unknown) => {
            process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
            process.exit(1)
          },
        )
      })
    },
  }

  function answered(child: ChildProcess, order: Order): Promise<Report> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) =>
        reject(new Error(`a worker ended with ${code} and without a report`))
      child.once('exit', ended)
      child.once('message', (report: Report) => {
        child.off('exit', ended)
        resolve(report)
      })
      child.send(order)
    })
  }
}
