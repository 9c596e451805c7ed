"""The Agents SDK of OpenAI, chat completions."""

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from files import BASE_URL, QUESTION, read_file, tell

set_tracing_disabled(True)
model = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=BASE_URL, api_key="key"))
agent = Agent(name="reader", model=model, tools=[function_tool(read_file)])
tell(Runner.run_sync(agent, QUESTION, max_turns=40).final_output)
