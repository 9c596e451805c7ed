"""LangChain's own agent."""

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from files import BASE_URL, QUESTION, read_file, tell

model = ChatOpenAI(base_url=BASE_URL, api_key="key", model="m")
agent = create_agent(model, tools=[tool(read_file)])
state = agent.invoke({"messages": [("user", QUESTION)]}, {"recursion_limit": 60})
tell(state["messages"][-1].content)
