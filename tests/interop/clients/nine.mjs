// The nine things that every A2A client does with an agent, told as one line of JSON each: what came, or the error.

/** Runs the steps of a client, each a function that gives what it saw. */
export async function nine(steps) {
  const kept = {};
  for (const [name, step] of Object.entries(steps)) {
    try {
      console.log(JSON.stringify({ step: name, seen: await step(kept) }));
    } catch (error) {
      console.log(JSON.stringify({ step: name, error: String(error?.message ?? error).slice(0, 300) }));
    }
  }
  process.exit(0);
}

/** Takes the first event of a stream and leaves. */
export async function first(stream) {
  for await (const event of stream) return event;
  throw new Error('no event');
}

/** All events of a stream. */
export async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}
