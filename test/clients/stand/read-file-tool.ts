/** An agent's tool as `runTools` of the official SDK takes it: it reads files. */
export function readFileTool(readFile: (path: string) => string) {
  return {
    type: 'function' as const,
    function: {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      parse: (text: string) => ({ path: String(/"path":"([^"]+)"/.exec(text)?.[1]) }),
      function: ({ path }: { path: string }) => readFile(path),
    },
  }
}
