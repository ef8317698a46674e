"""Turns of the PyPI package langchain-openai: an ask a line on stdin, its outcome a line on stdout, both as JSON."""

import json
import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return "sunny"


def complete(model, messages, stream, outcome):
    """Make one call and tell its answer. Of a stream that fails, the outcome keeps what had arrived."""
    if not stream:
        answer = model.invoke(messages)
        tell(answer, outcome)
        return answer
    answer = None
    for chunk in model.stream(messages):
        answer = chunk if answer is None else answer + chunk
        tell(answer, outcome)
    return answer


def tell(answer, outcome):
    outcome["text"] = answer.text
    outcome["finish"] = answer.response_metadata.get("finish_reason") or ""
    outcome["tokens"] = (answer.usage_metadata or {}).get("total_tokens", 0)


def turn(ask, outcome):
    """Make the turn, and a second call when the answer to the first is a tool call."""
    model = ChatOpenAI(base_url=ask["base_url"], api_key=ask["key"], model=ask["model"], stream_usage=ask["usage"])
    if ask["tool"]:
        model = model.bind_tools([get_weather])
    messages = [HumanMessage("What is the weather in Paris?")]
    while (answer := complete(model, messages, ask["stream"], outcome)).tool_calls:
        call = answer.tool_calls[0]
        outcome["tool_call"] = f"{call['name']}({json.dumps(call['args'], separators=(',', ':'))})"
        messages += [answer, ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])]


for line in sys.stdin:
    ask, outcome = json.loads(line), {}
    try:
        turn(ask, outcome)
    except Exception as error:  # whatever reaches the library's user
        status, code = getattr(error, "status_code", None), getattr(error, "code", None)
        outcome["error"] = {"status": status or 0, "code": code or "", "message": str(error)}
    print(json.dumps(outcome), flush=True)
