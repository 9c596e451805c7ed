"""Clients of Python's, each with all that it needs imported by itself: a function of this name is run for a base URL."""

import json
import sys

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


def openai_sdk(base_url):
    """The official SDK, chat completions: the loop that its documentation shows."""
    from openai import OpenAI

    client = OpenAI(base_url=base_url, api_key="key")
    messages = [{"role": "user", "content": QUESTION}]
    while True:
        tools = [{"type": "function", "function": TOOL}]
        answer = client.chat.completions.create(model="m", messages=messages, tools=tools)
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = read_file(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def openai_responses(base_url):
    """The official SDK, Responses API, all of the conversation sent each time."""
    from openai import OpenAI

    client = OpenAI(base_url=base_url, api_key="key")
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
            return response.output_text
        for call in calls:
            output = read_file(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


def anthropic_sdk(base_url):
    """The official SDK of Anthropic, streamed."""
    from anthropic import Anthropic

    client = Anthropic(base_url=base_url.removesuffix("/v1"), api_key="key")
    tool = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["parameters"]}
    messages = [{"role": "user", "content": QUESTION}]
    while True:
        with client.messages.stream(model="m", max_tokens=512, messages=messages, tools=[tool]) as stream:
            message = stream.get_final_message()
        messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": read_file(**call.input)} for call in calls
        ]
        messages.append({"role": "user", "content": results})


def ollama_sdk(base_url):
    """The official SDK of Ollama, streamed: the loop that its documentation shows."""
    from ollama import Client

    # Without an address it reads OLLAMA_HOST.
    client = Client(host=base_url or None)
    messages = [{"role": "user", "content": "The report is for Ines Halvorsen. Read all files."}]
    while True:
        content, calls = "", []
        tools, options = [read_file], {"num_ctx": 4096}
        for part in client.chat("m", messages, tools=tools, options=options, stream=True):
            content += part.message.content or ""
            calls += part.message.tool_calls or []
        messages.append({"role": "assistant", "content": content, "tool_calls": calls})
        if not calls:
            return content
        for call in calls:
            result = read_file(**call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})


def langchain_agent(base_url):
    """LangChain's own agent."""
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(base_url=base_url, api_key="key", model="m"), tools=[tool(read_file)])
    state = agent.invoke({"messages": [("user", QUESTION)]}, {"recursion_limit": 60})
    return state["messages"][-1].content


def agents_sdk(base_url):
    """The Agents SDK of OpenAI, chat completions."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=base_url, api_key="key"))
    agent = Agent(name="reader", model=model, tools=[function_tool(read_file)])
    return Runner.run_sync(agent, QUESTION, max_turns=40).final_output


def pydantic_ai_agent(base_url):
    """Pydantic AI's agent, chat completions."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=base_url, api_key="key"))
    return Agent(model, tools=[read_file]).run_sync(QUESTION).output


def instructor_client(base_url):
    """Instructor: a typed answer to a conversation that is longer than the window."""
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Longest(BaseModel):
        longest: str
        lines: int

    mode = instructor.Mode.JSON_SCHEMA
    client = instructor.from_openai(OpenAI(base_url=base_url, api_key="key"), mode=mode)
    messages = []
    for number in range(12):
        messages += [
            {"role": "user", "content": read_file(f"src/file-{number}.ts")},
            {"role": "assistant", "content": f"I have read file {number}."},
        ]
    messages.append({"role": "user", "content": QUESTION})
    answer = client.chat.completions.create(model="m", messages=messages, response_model=Longest)
    return answer.model_dump()


_, name, url = sys.argv
# A line of the output: what the model said in the end, and what was read.
print(json.dumps({"said": globals()[name](url), "read": read}))
