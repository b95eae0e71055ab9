import { h } from "./dom.mjs";

/** Texts that want room. */
const LONG = new Set(["message", "description"]);

/** Names that mean a connected agent. */
const AGENT = new Set(["agent", "alias"]);

/** A form made from a JSON Schema. What is left empty is left out. */
export class SchemaForm {
  #fields = [];

  /**
   * @param {{ properties?: object, required?: string[] }} schema
   * @param {{ aliases: string[], agentsId: string }} known the connected agents, and the list of them in the page
   */
  constructor({ properties = {}, required = [] }, { aliases, agentsId }) {
    const names = Object.keys(properties).sort((a, b) => Number(required.includes(b)) - Number(required.includes(a)));
    this.#fields = names.map((name) => field(name, properties[name], { isRequired: required.includes(name), aliases, agentsId }));
    const main = this.#fields.filter(({ name, isRequired }) => isRequired || LONG.has(name));
    const rest = this.#fields.filter((one) => !main.includes(one));
    const few = main.length === 0 && rest.length <= 3;
    this.element = h("div.fields", {}, ...(few ? rest : main).map(({ element }) => element));
    if (names.length === 0) this.element.append(h("p.empty", {}, "This tool takes no arguments."));
    if (!few && rest.length > 0) {
      this.more = h("details", {}, h("summary", {}, `${rest.length} more`), h("div.fields", {}, ...rest.map(({ element }) => element)));
      this.element.append(this.more);
    }
  }

  /** What was filled in. @throws {SyntaxError} a field that wants JSON holds something else */
  get value() {
    const entries = this.#fields.map(({ name, read }) => [name, read()]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  /** Fills in. @param {object} args */
  set value(args) {
    for (const { name, put } of this.#fields) put(args[name]);
    if (this.more) this.more.open = Object.keys(args).some((name) => this.more.querySelector(`[name="${name}"]`));
  }
}

function field(name, schema, { isRequired, aliases, agentsId }) {
  const id = `argument-${name}`;
  const labelText = name.replaceAll("_", " ");
  const hint = schema.description ? h("span.hint", { id: `${id}-hint` }, schema.description) : undefined;
  const described = hint && { "aria-describedby": `${id}-hint` };
  const labelled = (control, extra) =>
    h("div.field", {}, h("label", { htmlFor: id }, labelText, isRequired ? h("span.required", {}, " needed") : ""), control, hint, extra);
  if (name === "aliases") return { name, isRequired, ...choices(labelText, aliases, hint) };
  if (schema.type === "boolean") {
    const box = h("input", { type: "checkbox", id, name, ...described });
    const element = h("div.field.check", {}, box, h("label", { htmlFor: id }, labelText), hint);
    return { name, isRequired, element, read: () => box.checked || undefined, put: (value) => (box.checked = value === true) };
  }
  const isLong =
    LONG.has(name) || ["object", undefined].includes(schema.type) || (schema.type === "array" && schema.items?.type !== "string");
  const control = isLong
    ? h("textarea", { id, name, rows: 2, ...described })
    : h("input", { type: "text", id, name, autocomplete: "off", ...described });
  if (AGENT.has(name)) control.setAttribute("list", agentsId);
  if (schema.type === "integer" || schema.type === "number") control.inputMode = "decimal";
  return { name, isRequired, element: labelled(control), ...codec(schema, control, labelText) };
}

/** How a text becomes a value and back. What cannot be read as a number goes out as it is: the gateway says what it wants. */
function codec(schema, control, label) {
  const text = () => control.value.trim();
  if (schema.type === "string") return { read: () => control.value || undefined, put: (value) => (control.value = value ?? "") };
  if (schema.type === "integer" || schema.type === "number") {
    return {
      read: () => (text() === "" ? undefined : Number.isNaN(Number(text())) ? text() : Number(text())),
      put: (value) => (control.value = value ?? ""),
    };
  }
  if (schema.type === "array" && schema.items?.type === "string") {
    control.placeholder = "separated by commas";
    return {
      read: () =>
        text() === ""
          ? undefined
          : text()
              .split(",")
              .map((one) => one.trim()),
      put: (value) => (control.value = value?.join(", ") ?? ""),
    };
  }
  if (schema.additionalProperties?.type === "string") {
    control.placeholder = "Name: value, one a line";
    return {
      read: () => (text() === "" ? undefined : headerLines(text())),
      put: (value) =>
        (control.value = Object.entries(value ?? {})
          .map((pair) => pair.join(": "))
          .join("\n")),
    };
  }
  control.placeholder = schema.type === "array" ? "[ … ] in JSON" : "JSON";
  const read = () => {
    if (text() === "") return undefined;
    try {
      return JSON.parse(text());
    } catch (error) {
      throw new SyntaxError(`The field “${label}” is not JSON: ${error.message}`);
    }
  };
  return { read, put: (value) => (control.value = value === undefined ? "" : JSON.stringify(value)) };
}

/** `Name: value` lines as an object. @param {string} text */
export function headerLines(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(lines.map((line) => [line.split(":")[0].trim(), line.split(":").slice(1).join(":").trim()]));
}

function choices(label, aliases, hint) {
  const boxes = aliases.map((alias) =>
    h("input", { type: "checkbox", id: `alias-${alias}`, name: "aliases", value: alias, checked: true }),
  );
  const rows = boxes.map((box) => h("label.choice", { htmlFor: box.id }, box, box.value));
  const element = h("fieldset.field", {}, h("legend", {}, label, h("span.required", {}, " needed")), ...rows, hint ?? "");
  const read = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);
  return { element, read, put: (value) => boxes.forEach((box) => (box.checked = value?.includes(box.value) ?? true)) };
}
