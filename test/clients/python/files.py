"""What every agent of this folder has: a tool that reads files, and the words in which its result is told."""

import json
import sys

BASE_URL = sys.argv[1]
QUESTION = "Read them all."
read = []


def read_file(path: str) -> str:
    """Reads a file.

    Args:
        path: The path of the file.
    """
    read.append(path)
    lines = [f"export const value_{line} = measure('{path}', {line * 7919 % 1000})" for line in range(40)]
    return "\n".join(lines)


TOOL = {
    "name": "read_file",
    "description": "Reads a file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
}


def tell(said):
    """The last line of the output: what the model said in the end, and what was read."""
    print(json.dumps({"said": said, "read": read}))
