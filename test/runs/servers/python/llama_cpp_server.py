"""
Runs llama.cpp's own server, as the package xllamacpp brings it, until standard input ends.

    python llama_cpp_server.py MODEL CONTEXT_TOKENS SLOTS shared|apart

Shared slots, llama.cpp's default, draw on one pool of CONTEXT_TOKENS; else each slot has its part of them. Prints the
server's address on a line of its own. Standard input ends when whoever started this ends, however that comes about.
"""

import os
import sys

import xllamacpp


def serve(model: str, context_tokens: int, slots: int, pool: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"tiny"}
    params.n_ctx = context_tokens
    params.n_parallel = slots
    params.kv_unified = pool == "shared"
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.endpoint_metrics = True
    params.ui = False
    params.warmup = False
    # Threads wait for each other at every layer, and in vain where others are at work: for so small a model one is faster.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # The server's own end waits for requests that are still running.
    os._exit(0)


if __name__ == "__main__":
    model_path, context, slot_count, pool_kind = sys.argv[1:]
    serve(model_path, int(context), int(slot_count), pool_kind)
