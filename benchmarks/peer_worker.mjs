// The Node half of the peers' workers: another system's own class, asked line by line over standard input.
// A line asks {detector, carried, begin, fresh, piece, text, calls, results} and gets {flag, ns}.
import { copyFileSync, existsSync, appendFileSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [peer, folder] = process.argv.slice(2);
const answer = (value) => writeSync(1, `${JSON.stringify(value)}\n`);
console.log = console.info = console.debug = console.error;
const modules = join(folder, 'node_modules');
const off = () => false;
const config = {
  getDisableLoopDetection: off,
  getDebugMode: off,
  getTelemetryEnabled: off,
  getTelemetryLogPromptsEnabled: off,
  getUsageStatisticsEnabled: off,
  getSessionId: () => 'measured',
  getContentGeneratorConfig: () => undefined,
  getDebugLogger: () => ({ debug() {} }),
  getMaxToolCallsPerTurn: () => 100,
  isMaxToolCallsPerTurnExplicit: off,
};

async function gemini() {
  const core = join(modules, '@google/gemini-cli-core/dist/src');
  const { LoopDetectionService } = await import(pathToFileURL(join(core, 'services/loopDetectionService.js')));
  return () => {
    const own = new LoopDetectionService({ config });
    return { reset: (id) => own.reset(id), event: (event) => own.addAndCheck(event).count > 0, results() {} };
  };
}

async function qwen() {
  // The package is one bundle that keeps the class to itself: a copy of the part that holds it, with one export more.
  const chunks = join(modules, '@qwen-code/qwen-code/chunks');
  const opened = join(chunks, 'opened-for-measurement.js');
  if (!existsSync(opened)) {
    const holds = (name) => /^var LoopDetectionService = class/m.test(readFileSync(join(chunks, name), 'utf8'));
    const found = readdirSync(chunks).filter((name) => name.startsWith('chunk-')).find(holds);
    if (found === undefined) throw new Error('no part of the bundle holds LoopDetectionService');
    copyFileSync(join(chunks, found), opened);
    appendFileSync(opened, '\nexport { LoopDetectionService as Opened };\n');
  }
  const { Opened } = await import(pathToFileURL(opened));
  return (detector) => {
    const all = detector.endsWith('all on');
    const own = new Opened({ ...config, getSkipLoopDetection: () => !all });
    return {
      reset: (id) => own.reset(id),
      event: (event) => own.checkAlwaysOnSafeties(event) || (all && own.addAndCheckHeuristicLoops(event)),
      results: (call, result) =>
        own.recordToolResultByCallId(call, [{ functionResponse: { response: { output: result.text } } }]),
    };
  };
}

function take(own, asked) {
  let flag = false;
  for (let at = 0; at < asked.text.length; at += asked.piece) {
    flag = own.event({ type: 'content', value: asked.text.slice(at, at + asked.piece) }) || flag;
  }
  asked.calls.forEach((call, i) => {
    flag = own.event({ type: 'tool_call_request', value: { ...call, callId: `call-${i}` } }) || flag;
  });
  asked.results.forEach((result, i) => {
    flag = own.results(`call-${i}`, result) === true || flag;
  });
  own.event({ type: 'finished', value: {} });
  return flag;
}

const make = await { 'gemini-cli': gemini, 'qwen-code': qwen }[peer]();
const kept = new Map();
let prompts = 0;
answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const key = `${asked.detector} ${asked.carried}`;
  if (asked.begin || !kept.has(key)) {
    const begun = make(asked.detector);
    begun.reset('prompt');
    kept.set(key, begun);
  }
  const own = kept.get(key);
  const begun = process.hrtime.bigint();
  if (asked.fresh && !asked.carried) own.reset(`prompt-${(prompts += 1)}`);
  const flag = take(own, asked);
  answer({ flag, ns: Number(process.hrtime.bigint() - begun) });
}
process.exit(0);
