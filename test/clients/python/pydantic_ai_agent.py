"""Pydantic AI's agent, chat completions."""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from files import BASE_URL, QUESTION, read_file, tell

model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=BASE_URL, api_key="key"))
agent = Agent(model, tools=[read_file])
tell(agent.run_sync(QUESTION).output)
