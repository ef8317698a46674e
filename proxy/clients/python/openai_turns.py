"""Turns of the PyPI package openai: an ask a line on stdin, its outcome a line on stdout, both as JSON."""

import json
import sys

import openai

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def complete(client, params, stream, outcome):
    """Make one call and tell its one choice. Of a stream that fails, the outcome keeps what had arrived."""
    if not stream:
        answer = client.chat.completions.create(**params)
        choice = answer.choices[0]
        outcome.update(text=choice.message.content or "", finish=choice.finish_reason)
        outcome["tokens"] = answer.usage.total_tokens if answer.usage else 0
        return choice.message.model_dump(exclude_none=True)
    message = {"role": "assistant", "content": ""}
    outcome.update(text="", finish="")
    for chunk in client.chat.completions.create(**params, stream=True):
        if chunk.usage:
            outcome["tokens"] = chunk.usage.total_tokens
        for choice in chunk.choices:
            message["content"] += choice.delta.content or ""
            outcome.update(text=message["content"], finish=choice.finish_reason or outcome["finish"])
            for piece in choice.delta.tool_calls or []:
                add(message.setdefault("tool_calls", []), piece)
    return message


def add(calls, piece):
    """Add a piece of a tool call to the call that it belongs to."""
    if piece.index == len(calls):
        calls.append({"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}})
    call = calls[piece.index]["function"]
    call["name"] += piece.function.name or ""
    call["arguments"] += piece.function.arguments or ""


def chat(client, ask, outcome):
    """Make the turn, and a second call when the answer to the first is a tool call."""
    params = {"model": ask["model"], "messages": [{"role": "user", "content": "What is the weather in Paris?"}]}
    if ask["usage"]:
        params["stream_options"] = {"include_usage": True}
    if ask["tool"]:
        params["tools"] = [WEATHER]
    while (message := complete(client, params, ask["stream"], outcome)).get("tool_calls"):
        call = message["tool_calls"][0]
        outcome["tool_call"] = f"{call['function']['name']}({call['function']['arguments']})"
        params["messages"] += [message, {"role": "tool", "tool_call_id": call["id"], "content": "sunny"}]


def turn(client, ask, outcome):
    match ask["call"]:
        case "chat":
            chat(client, ask, outcome)
        case "models":
            outcome["models"] = [model.id for model in client.models.list()]
        case "model":
            outcome["models"] = [client.models.retrieve(ask["model"]).id]


for line in sys.stdin:
    ask, outcome = json.loads(line), {}
    try:
        turn(openai.OpenAI(base_url=ask["base_url"], api_key=ask["key"]), ask, outcome)
    except Exception as error:  # whatever reaches the library's user
        status, code = getattr(error, "status_code", None), getattr(error, "code", None)
        outcome["error"] = {"status": status or 0, "code": code or "", "message": str(error)}
    print(json.dumps(outcome), flush=True)
