"""The official SDK of Anthropic, streamed."""

from anthropic import Anthropic

from files import BASE_URL, QUESTION, TOOL, read_file, tell

client = Anthropic(base_url=BASE_URL.removesuffix("/v1"), api_key="key")
tool = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["parameters"]}
messages = [{"role": "user", "content": QUESTION}]
while True:
    with client.messages.stream(model="m", max_tokens=512, messages=messages, tools=[tool]) as stream:
        message = stream.get_final_message()
    messages.append({"role": "assistant", "content": message.content})
    calls = [block for block in message.content if block.type == "tool_use"]
    if not calls:
        break
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": read_file(**call.input)} for call in calls
    ]
    messages.append({"role": "user", "content": results})
tell("".join(block.text for block in message.content if block.type == "text"))
