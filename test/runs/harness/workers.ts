import { fork, type ChildProcess } from 'node:child_process'

type WorkerOptions<Report> = {
  /** Whether each order has a process of its own, which knows nothing of the others. Default: a process does many. */
  readonly eachAnew?: boolean
  /** Is told each report as it comes. */
  readonly onReport?: (report: Report) => void
}

export type Workers<Order, Report> = {
  /**
   * Does orders in some processes of the same command, each taking the next when it is done with one; the reports in the
   * order of the orders.
   */
  readonly inWorkers: (
    orders: readonly Order[],
    workers: number,
    options?: WorkerOptions<Report>,
  ) => Promise<readonly Report[]>
  /** In such a process: does the orders that come, until no more can. */
  readonly answerOrders: () => void
}

/** The processes of a command whose work is to do orders, each by itself. */
export function workersFor<Order extends object, Report extends object>(
  run: (order: Order) => Promise<Report>,
): Workers<Order, Report> {
  return {
    async inWorkers(orders, workers, { eachAnew = false, onReport } = {}) {
      const waiting = [...orders.entries()]
      const reports: Report[] = []
      const work = async (): Promise<void> => {
        let child: ChildProcess | null = null
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [place, order] = next
          child ??= fork(process.argv[1] ?? '', [], { stdio: 'inherit' })
          try {
            const report = await answered(child, order)
            reports[place] = report
            onReport?.(report)
          } finally {
            if (child.connected && (eachAnew || waiting.length === 0)) child.disconnect()
          }
          if (eachAnew) child = null
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
