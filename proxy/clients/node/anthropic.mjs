// Turns of the npm package @anthropic-ai/sdk: an ask a line on stdin, its outcome a line on stdout, both as JSON.
import { createInterface } from 'node:readline/promises';
import Anthropic from '@anthropic-ai/sdk';

const weather = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

// message makes one call. Of a stream that fails, the outcome keeps what had arrived.
async function message(client, params, stream, outcome) {
  if (!stream) return await client.messages.create(params);
  const events = client.messages.stream(params);
  events.on('text', (_, soFar) => { outcome.text = soFar; });
  return await events.finalMessage();
}

// turn makes the turn, and a second call when the answer to the first is a tool call.
async function turn(client, ask, outcome) {
  const params = { model: ask.model, max_tokens: 1024, messages: [{ role: 'user', content: 'What is the weather in Paris?' }] };
  if (ask.tool) params.tools = [weather];
  for (;;) {
    const answer = await message(client, params, ask.stream, outcome);
    outcome.text = answer.content.filter((b) => b.type === 'text').map((b) => b.text).join('');
    outcome.finish = answer.stop_reason;
    outcome.tokens = answer.usage.input_tokens + answer.usage.output_tokens;
    const calls = answer.content.filter((b) => b.type === 'tool_use');
    if (!calls.length) return;
    outcome.tool_call = `${calls[0].name}(${JSON.stringify(calls[0].input)})`;
    params.messages.push(
      { role: 'assistant', content: answer.content },
      { role: 'user', content: calls.map((c) => ({ type: 'tool_result', tool_use_id: c.id, content: 'sunny' })) },
    );
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const outcome = {};
  try {
    await turn(new Anthropic({ baseURL: ask.base_url.replace(/\/v1$/, ''), apiKey: ask.key }), ask, outcome);
  } catch (error) {
    const told = error.error?.error ?? error.error ?? {};
    outcome.error = { status: error.status ?? 0, code: told.type ?? '', message: error.message };
  }
  console.log(JSON.stringify(outcome));
}
