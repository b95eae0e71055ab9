/** Where cards are looked for, in the gateway's own order. */
const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/** Where the card of an agent may be, in the gateway's own order. @param {URL} url @returns {URL[]} */
export function cardPlaces(url) {
  const base = url.pathname.replace(/\/$/, "");
  const paths = [...CARD_PATHS.map((path) => base + path), ...CARD_PATHS, url.pathname + url.search];
  return [...new Set(paths)].map((path) => new URL(path, url.origin));
}

/** The interfaces that a card offers, in its order: of 1.0, or of 0.3. */
export function interfacesOf(card, url) {
  const listed = (value) => (Array.isArray(value) ? value.map(Object) : []);
  const { protocolVersion = "0.3" } = card;
  const first = { url: card.url, protocolBinding: card.preferredTransport, protocolVersion };
  const others = listed(card.additionalInterfaces).map((more) => ({ ...more, protocolBinding: more.transport, protocolVersion }));
  const given = listed(card.supportedInterfaces);
  const all = given.length > 0 ? given : [...(card.url === undefined ? [] : [first]), ...others];
  return all
    .filter((offer) => typeof offer.url === "string" && URL.canParse(offer.url, url))
    .map((offer) => ({
      url: new URL(offer.url, url).href,
      binding: String(offer.protocolBinding ?? "JSONRPC").toUpperCase(),
      version: String(offer.protocolVersion ?? "1.0"),
    }));
}

/** Whether something looks like a card, whatever its version. */
export function isCard(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    ("skills" in value || "supportedInterfaces" in value || ("name" in value && "url" in value))
  );
}
