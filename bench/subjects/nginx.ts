import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { startProgram } from './program.ts'
import type { Subject } from './subject.ts'

/** Where nginx is installed; null where it is not. System folders are often missing in a user's PATH. */
export function findNginx(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, 'nginx')).find(isExecutable) ?? null
}

/** nginx as one process that keeps its connections and buffers nothing; null where it is not installed. */
export async function startNginx(upstreamOrigin: string): Promise<Subject | null> {
  const nginx = findNginx()
  if (nginx === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'foldgate-bench-nginx-'))
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration({ folder, port, upstream: new URL(upstreamOrigin).host }))
  const { stop, ...started } = await startProgram({
    command: [nginx, '-e', 'stderr', '-p', folder, '-c', file],
    port,
    probe: '/healthz',
  })
  return {
    name: 'nginx',
    ...started,
    headers: {},
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// --- internal ---

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Its own time limit of 60 s would end an upstream that thinks for longer: whoever streams answers raises it. */
function configuration(places: { folder: string; port: number; upstream: string }): string {
  const { folder, port, upstream } = places
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 2048; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  client_max_body_size 0;
  keepalive_requests 1000000000;
  upstream bench { server ${upstream}; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 1h;
      proxy_send_timeout 1h;
    }
  }
}
`
}
