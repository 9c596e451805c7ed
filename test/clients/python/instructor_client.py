"""Instructor: a typed answer to a conversation that is longer than the window."""

import instructor
from openai import OpenAI
from pydantic import BaseModel

from files import BASE_URL, QUESTION, read_file, tell


class Longest(BaseModel):
    longest: str
    lines: int


client = instructor.from_openai(OpenAI(base_url=BASE_URL, api_key="key"), mode=instructor.Mode.JSON_SCHEMA)
messages = []
for number in range(12):
    messages += [
        {"role": "user", "content": read_file(f"src/file-{number}.ts")},
        {"role": "assistant", "content": f"I have read file {number}."},
    ]
messages.append({"role": "user", "content": QUESTION})
answer = client.chat.completions.create(model="m", messages=messages, response_model=Longest)
tell(answer.model_dump())
