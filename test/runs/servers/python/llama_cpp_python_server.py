"""
Runs llama-cpp-python's server until standard input ends.

    python llama_cpp_python_server.py MODEL CONTEXT_TOKENS PORT [CHAT_FORMAT]

Standard input ends when whoever started this ends, however that comes about.
"""

import os
import sys
import threading

import uvicorn
from llama_cpp.server.app import create_app
from llama_cpp.server.settings import ModelSettings, ServerSettings


def end_with_standard_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    model, context_tokens, port, *chat_formats = sys.argv[1:]
    chat_format = chat_formats[0] if chat_formats else None
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    app = create_app(
        server_settings=ServerSettings(),
        model_settings=[ModelSettings(model=model, model_alias="tiny", n_ctx=int(context_tokens), n_threads=1, n_threads_batch=1, verbose=False, chat_format=chat_format)],
    )
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error")
