// CommonJS: require() gives the module of Node's entry.
import narrows = require("narrows");

export async function list(): Promise<number> {
  const gateway = await narrows.Gateway.open();
  const tools = await gateway.tools();
  gateway.dispose();
  return tools.length;
}
