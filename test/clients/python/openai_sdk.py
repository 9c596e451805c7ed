"""The official SDK, chat completions: the loop that its documentation shows."""

import json

from openai import OpenAI

from files import BASE_URL, QUESTION, TOOL, read_file, tell

client = OpenAI(base_url=BASE_URL, api_key="key")
messages = [{"role": "user", "content": QUESTION}]
while True:
    answer = client.chat.completions.create(
        model="m", messages=messages, tools=[{"type": "function", "function": TOOL}]
    )
    message = answer.choices[0].message
    messages.append(message)
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        result = read_file(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
tell(message.content)
