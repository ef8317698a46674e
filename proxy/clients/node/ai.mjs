// Turns of the AI SDK with its provider for OpenAI-compatible servers: an ask a line on stdin, its outcome a line on stdout,
// both as JSON. The library answers a tool call and goes on by itself.
import { createInterface } from 'node:readline/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const weather = tool({
  inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  execute: async () => 'sunny',
});

const told = (call) => `${call.toolName}(${JSON.stringify(call.input)})`;

async function plain(params, outcome) {
  const answer = await generateText(params);
  const [call] = answer.steps.flatMap((step) => step.toolCalls);
  if (call) outcome.tool_call = told(call);
  Object.assign(outcome, { text: answer.text, finish: answer.finishReason, tokens: answer.usage.totalTokens });
}

// stream tells the last step's answer. The library goes on after an error: what follows is no answer.
async function stream(params, outcome) {
  for await (const part of streamText({ ...params, onError: () => {} }).fullStream) {
    switch (part.type) {
      case 'start-step':
        outcome.text = '';
        break;
      case 'text-delta':
        outcome.text += part.text;
        break;
      case 'tool-call':
        outcome.tool_call = told(part);
        break;
      case 'finish-step':
        Object.assign(outcome, { finish: part.finishReason, tokens: part.usage.totalTokens });
        break;
      case 'error':
        throw part.error;
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const provider = createOpenAICompatible({ name: 'hub', baseURL: ask.base_url, apiKey: ask.key, includeUsage: ask.usage });
  const params = {
    model: provider(ask.model),
    prompt: 'What is the weather in Paris?',
    ...(ask.tool && { tools: { get_weather: weather }, stopWhen: stepCountIs(2) }),
  };
  const outcome = {};
  try {
    await (ask.stream ? stream : plain)(params, outcome);
  } catch (error) {
    const last = error.lastError ?? error; // what a retry that was given up ended with
    outcome.error = { status: last.statusCode ?? 0, code: last.data?.error?.code ?? last.code ?? '', message: last.message };
  }
  console.log(JSON.stringify(outcome));
}
