"""The official SDK, Responses API, all of the conversation sent each time."""

import json

from openai import OpenAI

from files import BASE_URL, QUESTION, TOOL, read_file, tell

client = OpenAI(base_url=BASE_URL, api_key="key")
items = [{"role": "user", "content": QUESTION}]
while True:
    with client.responses.stream(
        model="m",
        input=items,
        tools=[{"type": "function", "strict": False, **TOOL}],
        store=False,
        include=["reasoning.encrypted_content"],
        max_output_tokens=512,
    ) as stream:
        response = stream.get_final_response()
    items += [item.model_dump(exclude_none=True) for item in response.output]
    calls = [item for item in response.output if item.type == "function_call"]
    if not calls:
        break
    for call in calls:
        output = read_file(**json.loads(call.arguments))
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
tell(response.output_text)
