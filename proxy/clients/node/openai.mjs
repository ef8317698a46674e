// Turns of the npm package openai: an ask a line on stdin, its outcome a line on stdout, both as JSON.
import { createInterface } from 'node:readline/promises';
import OpenAI from 'openai';

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

// complete makes one call and tells its one choice. Of a stream that fails, the outcome keeps what had arrived.
async function complete(client, params, stream, outcome) {
  if (!stream) {
    const answer = await client.chat.completions.create(params);
    const [choice] = answer.choices;
    Object.assign(outcome, { text: choice.message.content ?? '', finish: choice.finish_reason, tokens: answer.usage?.total_tokens });
    return choice.message;
  }
  const message = { role: 'assistant', content: '' };
  Object.assign(outcome, { text: '', finish: '' });
  for await (const chunk of await client.chat.completions.create({ ...params, stream: true })) {
    outcome.tokens = chunk.usage?.total_tokens ?? outcome.tokens;
    const [choice] = chunk.choices;
    if (!choice) continue;
    outcome.text = message.content += choice.delta.content ?? '';
    outcome.finish = choice.finish_reason ?? outcome.finish;
    for (const piece of choice.delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      const call = (message.tool_calls[piece.index] ??= { type: 'function', function: { name: '', arguments: '' } });
      call.id ??= piece.id;
      call.function.name += piece.function?.name ?? '';
      call.function.arguments += piece.function?.arguments ?? '';
    }
  }
  return message;
}

// chat makes the turn, and a second call when the answer to the first is a tool call.
async function chat(client, ask, outcome) {
  const params = { model: ask.model, messages: [{ role: 'user', content: 'What is the weather in Paris?' }] };
  if (ask.usage) params.stream_options = { include_usage: true };
  if (ask.tool) params.tools = [weather];
  for (;;) {
    const message = await complete(client, params, ask.stream, outcome);
    if (!message.tool_calls?.length) return;
    const [call] = message.tool_calls;
    outcome.tool_call = `${call.function.name}(${call.function.arguments})`;
    params.messages.push(message, { role: 'tool', tool_call_id: call.id, content: 'sunny' });
  }
}

const calls = {
  chat,
  models: async (client, _, outcome) => {
    outcome.models = [];
    for await (const model of client.models.list()) outcome.models.push(model.id);
  },
  model: async (client, ask, outcome) => {
    outcome.models = [(await client.models.retrieve(ask.model)).id];
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const outcome = {};
  try {
    await calls[ask.call](new OpenAI({ baseURL: ask.base_url, apiKey: ask.key }), ask, outcome);
  } catch (error) {
    outcome.error = { status: error.status ?? 0, code: error.code ?? '', message: error.message };
  }
  console.log(JSON.stringify(outcome));
}
