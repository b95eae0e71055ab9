import assert from "node:assert/strict";
import { test } from "node:test";

import { ENDS, leftovers } from "../soak/leftovers.mjs";

test("nothing is left of gateways that were ended in every way, at any moment", { skip: process.platform !== "linux" }, async () => {
  const { ends, started, left } = await leftovers({ times: 24, seed: 3 });
  assert.deepEqual(left, []);
  assert.ok(started > 0, "some had servers by then");
  assert.ok(Object.keys(ENDS).every((name) => ends[name] > 0), JSON.stringify(ends));
});
