// What every agent here does, chosen by the first word of the text it is sent. The steps are neutral: each agent puts them into the
// types of its own SDK.

const pause = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
const artifact = (name, parts, { append = false, last = true } = {}) => ({ kind: 'artifact', id: name, name, parts, append, last });
const status = (state, text) => ({ kind: 'status', state, text });

/** `said` is the text, `data` the data parts, `continued` whether the task already waits for input, `signal` ends a slow task. */
export async function* behave({ said, data, continued, signal }) {
  const [word, count] = said.split(' ');
  if (word === 'message-only' && !continued) return yield { kind: 'message', text: 'No task was needed.' };
  if (continued) {
    yield artifact('choice', [{ text: `got: ${said}` }]);
    return yield status('completed', 'thanks');
  }
  if (word === 'input') return yield status('input-required', 'Which colour?');
  if (word === 'fail') return yield status('failed', 'The oven broke.');
  yield status('working', 'thinking');
  if (word === 'file') {
    yield artifact('file', [{ raw: Buffer.from([0xfb, 0xff, 0xfe, 0x00, 0x0a]), filename: 'five.bin', mediaType: 'application/octet-stream' }]);
  } else if (word === 'data') {
    yield artifact('data', data.map((value) => ({ data: value })));
  } else if (word === 'slow') {
    for (let second = 0; second < Number(count); second += 1) {
      await pause(1000, signal);
      if (signal.aborted) return;
      yield artifact('ticks', [{ text: `tick ${second} ` }], { append: second > 0, last: second === Number(count) - 1 });
    }
  } else if (word === 'hello') {
    yield artifact('greeting', [{ text: 'Hello ' }], { last: false });
    await pause(100, signal);
    yield artifact('greeting', [{ text: 'wörld 🌍\nline two' }], { append: true });
  } else {
    yield artifact('echo', [{ text: `you said: ${said}` }]);
  }
  yield status('completed', 'done');
}

/**
 * Runs `behave` for one executor call. `events` turns each step into the SDK's own, and the request into the task that opens the
 * events, where the SDK wants one. A canceled task says nothing more.
 */
export function executor({ read, events }) {
  const running = new Map();
  return {
    async execute(request, bus) {
      const { taskId, contextId } = request;
      const stop = new AbortController();
      const make = events(taskId, contextId);
      running.set(taskId, { stop, make });
      let first = true;
      for await (const step of behave({ ...read(request), signal: stop.signal })) {
        const task = first && step.kind !== 'message' ? make.task(request) : undefined;
        if (task) bus.publish(task);
        first = false;
        bus.publish(make[step.kind](step));
      }
      running.delete(taskId);
      if (!stop.signal.aborted) bus.finished();
    },
    async cancelTask(taskId, bus) {
      const run = running.get(taskId);
      run?.stop.abort();
      if (run) bus.publish(run.make.status({ state: 'canceled', text: 'stopped' }));
      bus.finished();
    },
  };
}
