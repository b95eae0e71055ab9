import { attribute, h, write } from "./dom.mjs";
import { headerLines } from "./header-lines.mjs";

/** Texts that want room. */
const LONG = new Set(["message", "description"]);

/** Names that mean a connected agent. */
const AGENT = new Set(["agent", "alias"]);

/** A form made from a JSON Schema. What is left empty is left out. */
export class SchemaForm {
  #fields = [];

  /**
   * @param {{ properties?: object, required?: string[] }} schema
   * @param {{ aliases: string[] }} known the connected agents
   */
  constructor({ properties = {}, required = [] }, { aliases }) {
    const names = Object.keys(properties).sort((a, b) => Number(required.includes(b)) - Number(required.includes(a)));
    // Where an agent is made known, its alias is a new one.
    const known = "agent_url" in properties ? [] : aliases;
    this.#fields = names.map((name) => field(name, properties[name], { isRequired: required.includes(name), aliases: known }));
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

  /** What was filled in. @throws {FieldFault} a field holds what cannot be read */
  get value() {
    const entries = this.#fields.map(({ name, read }) => [name, read()]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  /** Fills in. @param {object} args */
  set value(args) {
    for (const { name, put } of this.#fields) put(args[name]);
    if (this.more) this.more.open = Object.keys(args).some((name) => this.more.querySelector(`[name="${name}"]`));
  }

  /** The needed fields that are empty. @returns {string[]} their names */
  get missing() {
    return this.#fields.filter(({ isRequired, isEmpty }) => isRequired && isEmpty()).map(({ name }) => name);
  }

  /** Says at a field what is wrong with it. @param {string} name @param {string} words @returns {boolean} whether there is such a field */
  mark(name, words) {
    const found = this.#fields.find((one) => one.name === name);
    if (!found) return false;
    write(found.fault, words);
    attribute(found.control, "aria-invalid", "true");
    if (this.more?.contains(found.control)) this.more.open = true;
    return true;
  }

  /** Takes all such marks away. */
  unmark() {
    for (const { fault, control } of this.#fields) {
      write(fault, "");
      attribute(control, "aria-invalid", undefined);
    }
  }

  /** @param {string} name */
  focus(name) {
    this.#fields.find((one) => one.name === name)?.control.focus();
  }
}

/** What is wrong with a field. */
export class FieldFault extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

function field(name, schema, { isRequired, aliases }) {
  const id = `argument-${name}`;
  const labelText = name.replaceAll("_", " ");
  const fault = h("span.fault", { id: `${id}-fault` });
  const hint = schema.description ? h("span.hint", { id: `${id}-hint` }, schema.description) : undefined;
  const described = { "aria-describedby": `${hint ? `${id}-hint ` : ""}${id}-fault` };
  const needed = isRequired ? h("span.required", {}, " needed") : "";
  const labelled = (...controls) => h("div.field", {}, h("label", { htmlFor: id }, labelText, needed), ...controls, hint, fault);
  const made = (element, control, codec, isEmpty = () => control.value.trim() === "") => ({
    name,
    isRequired,
    element,
    control,
    fault,
    isEmpty,
    ...codec,
  });
  if (name === "aliases") return { name, isRequired, fault, ...choices(labelText, aliases, hint, fault) };
  if (schema.type === "boolean") {
    const box = h("input", { type: "checkbox", id, name, ...described });
    const element = h("div.field.check", {}, box, h("label", { htmlFor: id }, labelText), hint);
    return made(element, box, { read: () => box.checked || undefined, put: (value) => (box.checked = value === true) });
  }
  if (AGENT.has(name) && aliases.length > 0) {
    const { select, address, codec } = agentChoice(id, name, aliases, isRequired, described);
    return made(labelled(select, address), select, codec, () => codec.read() === undefined);
  }
  const isLong =
    LONG.has(name) || ["object", undefined].includes(schema.type) || (schema.type === "array" && schema.items?.type !== "string");
  const control = isLong
    ? h("textarea", { id, name, rows: 2, ...described })
    : h("input", { type: "text", id, name, autocomplete: "off", ...described });
  if (schema.type === "integer" || schema.type === "number") control.inputMode = "decimal";
  return made(labelled(control), control, codecOf(name, schema, control));
}

/** One of the connected agents, or an address that is typed in. */
function agentChoice(id, name, aliases, isRequired, described) {
  const other = name === "agent" ? "another address …" : "another alias …";
  const select = h(
    "select",
    { id, name, ...described, onchange: () => show() },
    ...(isRequired ? [] : [h("option", { value: "" }, "any")]),
    ...aliases.map((value) => h("option", { value }, value)),
    h("option", { value: " " }, other),
  );
  const label = name === "agent" ? "Address or alias" : "Alias";
  const address = h("input", { type: "text", autocomplete: "off", hidden: true, "aria-label": label, placeholder: label });
  const show = () => (address.hidden = select.value !== " ");
  const read = () => (select.value === " " ? address.value.trim() : select.value) || undefined;
  const put = (value) => {
    select.value = value === undefined ? (isRequired ? aliases[0] : "") : aliases.includes(value) ? value : " ";
    address.value = select.value === " " ? value : "";
    show();
  };
  return { select, address, codec: { read, put } };
}

/** How a text becomes a value and back. What cannot be read as a number goes out as it is: the gateway says what it wants. */
function codecOf(name, schema, control) {
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
      read: () => (text() === "" ? undefined : readHeaders(name, text())),
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
      throw new FieldFault(name, `This is not JSON: ${error.message}`);
    }
  };
  return { read, put: (value) => (control.value = value === undefined ? "" : JSON.stringify(value)) };
}

function readHeaders(name, text) {
  const { headers, faults } = headerLines(text);
  if (faults.length > 0) throw new FieldFault(name, faults.join(" "));
  return headers;
}

function choices(label, aliases, hint, fault) {
  const boxes = aliases.map((alias) =>
    h("input", { type: "checkbox", id: `alias-${alias}`, name: "aliases", value: alias, checked: true }),
  );
  const rows = boxes.map((box) => h("label.choice", { htmlFor: box.id }, box, box.value));
  const element = h("fieldset.field", {}, h("legend", {}, label, h("span.required", {}, " needed")), ...rows, hint ?? "", fault);
  const read = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);
  return {
    element,
    control: boxes[0] ?? element,
    read,
    isEmpty: () => read().length === 0,
    put: (value) => boxes.forEach((box) => (box.checked = value?.includes(box.value) ?? true)),
  };
}
