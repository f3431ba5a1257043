import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorkplace, type Workplace } from './cli.ts';

let work: Workplace;
let server: Server;
let env: NodeJS.ProcessEnv;
let broken = false;
const asked: { model: string; authorization: string | undefined }[] = [];

const memory = (content: string) => ({
  content,
  title: null,
  type: 'fact',
  tags: [],
  importance: 0.7,
  confidence: 'stated',
  validFrom: null,
  validUntil: null,
  sources: [1],
});

/** A chat server that finds one fact in each conversation, and an update in each pair that is about no train. */
beforeAll(async () => {
  work = createWorkplace();
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { model, messages } = JSON.parse(body) as { model: string; messages: { content: string }[] };
    asked.push({ model, authorization: request.headers.authorization });
    const prompt = messages.at(-1)?.content ?? '';
    const day = /on (\w+day)/.exec(prompt)?.[1];
    const answer = prompt.includes('<pairs-')
      ? { verdicts: [{ pair: 1, reason: '', verdict: prompt.includes('train') ? 'NONE' : 'UPDATE' }] }
      : { memories: [memory(`Ann flies to Lisbon on ${day} morning`)] };
    if (broken) response.statusCode = 401;
    const message = { content: JSON.stringify(answer) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  env = {
    SALIENCE_MODEL: 'tiny',
    SALIENCE_MODEL_URL: url,
    SALIENCE_MODEL_KEY: 'key',
    OPENAI_API_KEY: 'other',
  };
});
afterAll(() => {
  server.close();
  work[Symbol.dispose]();
});

const says = (content: string) => `${JSON.stringify({ role: 'user', content })}\n`;

it('observes conversations, judges what is similar, and says what that cost', async () => {
  const monday = await work.json(['observe', '-'], { env, input: says('I fly to Lisbon on Monday!') });
  expect(monday).toMatchObject({ created: [expect.any(String)], judgedBy: 'model', usage: { calls: 1 } });
  const list = JSON.stringify([{ role: 'user', content: 'No, on Tuesday.' }]);
  const tuesday = await work.salience(['observe', work.file('list.json', list)], { env });
  expect(tuesday).toMatchObject({ code: 0, stderr: '' });
  expect(tuesday.stdout).toMatch(
    /^1 message: 1 new memory, judged by the model \(1 call, [\d,]+ \+ [\d,]+ tokens\)\n$/,
  );
  expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer key']));

  const maintained = await work.salience(['maintain'], { env });
  expect(maintained.stdout).toMatch(
    /1 judged, 1 superseded \(asked openai-compatible:tiny: 1 call, .+ tokens\)\nto take it back: salience undo --run \S+\n$/,
  );
  const { hits } = (await work.json(['recall', 'Lisbon'])) as { hits: { memory: { content: string } }[] };
  expect(hits.map((hit) => hit.memory.content)).toEqual(['Ann flies to Lisbon on Tuesday morning']);
  asked.length = 0;
  await work.json(['maintain', '--no-use-model'], { env });
  await work.json(['curate', '--no-use-model'], { env });
  expect(asked).toEqual([]);
});

it('says how to take back a run that only judged', async () => {
  for (const day of ['Monday', 'Tuesday'])
    await work.json(['remember', `The train to Lisbon leaves on ${day}`, '--space', 'e']);
  const { stdout } = await work.salience(['maintain', '--space', 'e'], { env });
  const [, undo = ''] = /to take it back: salience (undo --run \S+)\n$/.exec(stdout) ?? [];
  expect(await work.json([...undo.split(' '), '--space', 'e'])).toMatchObject({ verb: 'maintain' });
  const { conflicts } = (await work.json(['conflicts', '--space', 'e'])) as {
    conflicts: { conflictId: string }[];
  };
  expect(conflicts).toHaveLength(1);
  await work.json(['resolve', conflicts[0]!.conflictId, 'keep-both', '--space', 'e']);
});

it('keeps what the model fails on as events, and says so', async () => {
  broken = true;
  const { code, stdout, stderr } = await work.salience(['observe', '-', '--space', 'b'], {
    env,
    input: says('I moved to Oslo'),
  });
  broken = false;
  expect(code).toBe(3);
  expect(stdout).toBe('1 message: 1 new memory, judged by rules\n');
  expect(stderr).toMatch(/^1 message kept as events, from message 1 on: .*SALIENCE_MODEL_KEY/);
  expect(stderr).not.toContain('Oslo');
});

it('says once for each reason what the model failed on in maintain and curate, and ends with 3', async () => {
  for (const day of ['Monday', 'Tuesday', 'Wednesday', 'Thursday']) {
    await work.json(['remember', `The ferry to Lisbon leaves on ${day}`, '--space', 'd']);
  }
  broken = true;
  const all = ['maintain', '--all-spaces', '--every-hours', '0'];
  for (const args of [['maintain', '--space', 'd'], all, ['curate', '--space', 'd']]) {
    const { code, stdout, stderr } = await work.salience(args, { env });
    expect(code, args.join(' ')).toBe(3);
    expect(stderr).toMatch(/^(d: )?the language model failed( \d+ times)?: .*SALIENCE_MODEL_KEY.*\n$/);
    expect(stdout).toContain('asked openai-compatible:tiny');
  }
  const { code, stdout } = await work.salience(['maintain', '--space', 'd', '--json'], { env });
  expect([code, JSON.parse(stdout)]).toEqual([
    3,
    expect.objectContaining({ failures: expect.arrayContaining([expect.stringContaining('401')]) }),
  ]);
  broken = false;
});

it('says what is wrong with a conversation, and writes nothing', async () => {
  const fails = async (input: string) => {
    const { code, stderr } = await work.salience(['observe', '-', '--space', 'c', '--json'], { input });
    return [code, (JSON.parse(stderr) as { error: { message: string } }).error.message];
  };
  expect(await fails(`${says('I like tea')}{"role"`)).toEqual([1, expect.stringContaining('line 2')]);
  expect(await fails('{"content":"tea"}')).toEqual([1, expect.stringContaining('messages[0].role')]);
  expect(await fails('7')).toEqual([1, expect.stringContaining('messages[0]')]);
  expect((await work.salience(['observe', 'none.jsonl'])).stderr).toContain('none.jsonl cannot be read');
});
