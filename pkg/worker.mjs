// Workers with Durable Objects.
import { door as openDoor } from "./lib/worker/door.mjs";
import { GatewayObject as Base } from "./lib/worker/object.mjs";
import { Gateway } from "./workerd.mjs";

const { platform } = Gateway;

export const door = (options) => openDoor(options, platform);
export class GatewayObject extends Base {
  static platform = platform;
}
