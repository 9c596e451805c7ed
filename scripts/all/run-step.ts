import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Step } from './steps.ts'

export type StepResult = {
  readonly passed: number
  readonly failed: number
  readonly seconds: number
  readonly output: string
  /** What failed, in lines that stand for themselves. */
  readonly failures: readonly string[]
}

/** Runs a step to its end; what it prints is kept, since others print beside it. */
export async function runStep(step: Step): Promise<StepResult> {
  const startedMs = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'foldgate-step-'))
  const report = join(folder, 'report.json')
  const [program = '', ...args] = step.command
  const reporting = ['--', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const child = spawn(program, [...args, ...(step.isVitest ? reporting : [])], {
    env: { ...process.env, ...step.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pieces: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void pieces.push(text))
  const code = await new Promise<number | string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', (exitCode, signal) => resolve(exitCode ?? signal ?? ''))
  })
  const output = pieces.join('')
  const seconds = (performance.now() - startedMs) / 1000
  const counted = step.isVitest ? readReport(report) : { passed: Number(code === 0), failures: [] }
  rmSync(folder, { recursive: true })
  const failures = [...counted.failures]
  // An error outside of any test ends vitest with a code of its own, and a command may end before vitest has begun.
  if (code !== 0 && failures.length === 0)
    failures.push(`${step.command.join(' ')} ended with ${code}:\n${lastLines(output)}`)
  return { passed: counted.passed, failed: failures.length, seconds, output, failures }
}

// --- internal ---

type Report = {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

function readReport(file: string): { readonly passed: number; readonly failures: readonly string[] } {
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { passed: 0, failures: [] }
  }
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const path = relative(process.cwd(), name)
    const failed = assertionResults.filter((test) => test.status === 'failed')
    // A file that cannot be loaded fails as a suite and counts no test.
    if (status === 'failed' && failed.length === 0) return [`${path}\n${firstLines(message)}`]
    return failed.map(
      ({ fullName, failureMessages }) => `${path}: ${fullName}\n${firstLines(failureMessages[0] ?? '')}`,
    )
  })
  return { passed: report.numPassedTests, failures }
}

function firstLines(text: string): string {
  return indented(text.split('\n').slice(0, 12))
}

function lastLines(text: string): string {
  return indented(text.trimEnd().split('\n').slice(-30))
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `    ${line.slice(0, 200)}`).join('\n')
}
