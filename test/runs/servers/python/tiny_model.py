"""
Writes a model of random weights, as small as llama.cpp runs it: one layer, 32 dimensions.

    python tiny_model.py VOCABULARY TEMPLATE MODEL

VOCABULARY is a JSON file, `{"tokens": [...], "merges": [...]}`, in the spelling of GPT-2 (a byte is a printable character);
TEMPLATE holds the chat template that goes into the model's metadata; MODEL is the file to write. What the model says is
noise. What it takes as input is real: the tokens are counted, evaluated and cached as a true model's are.
"""

import json
import sys

import gguf
import numpy

DIMENSIONS = 32
HEADS = 2
FEED_FORWARD = 32
# Far beyond any window that is asked for: it is the server that sets the limit.
TRAINED_TOKENS = 131_072
CONTROL_TOKENS = ["<|begin|>", "<|end|>"]
SEED = 1


def write_model(vocabulary: dict, template: str, path: str) -> None:
    tokens = CONTROL_TOKENS + vocabulary["tokens"]
    kinds = [gguf.TokenType.CONTROL] * len(CONTROL_TOKENS) + [gguf.TokenType.NORMAL] * len(vocabulary["tokens"])
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(TRAINED_TOKENS)
    writer.add_embedding_length(DIMENSIONS)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(DIMENSIONS // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(vocabulary["merges"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(template)

    random = numpy.random.default_rng(SEED)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0, 0.05, shape).astype(numpy.float32))

    def add_norm(name: str) -> None:
        writer.add_tensor(name, numpy.ones(DIMENSIONS, dtype=numpy.float32))

    key_value_dimensions = DIMENSIONS // HEADS
    add("token_embd.weight", len(tokens), DIMENSIONS)
    add_norm("blk.0.attn_norm.weight")
    add("blk.0.attn_q.weight", DIMENSIONS, DIMENSIONS)
    add("blk.0.attn_k.weight", key_value_dimensions, DIMENSIONS)
    add("blk.0.attn_v.weight", key_value_dimensions, DIMENSIONS)
    add("blk.0.attn_output.weight", DIMENSIONS, DIMENSIONS)
    add_norm("blk.0.ffn_norm.weight")
    add("blk.0.ffn_gate.weight", FEED_FORWARD, DIMENSIONS)
    add("blk.0.ffn_up.weight", FEED_FORWARD, DIMENSIONS)
    add("blk.0.ffn_down.weight", DIMENSIONS, FEED_FORWARD)
    add_norm("output_norm.weight")
    add("output.weight", len(tokens), DIMENSIONS)

    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    vocabulary_path, template_path, model_path = sys.argv[1:]
    with open(vocabulary_path, encoding="utf-8") as file:
        vocabulary = json.load(file)
    with open(template_path, encoding="utf-8") as file:
        template = file.read()
    write_model(vocabulary, template, model_path)
